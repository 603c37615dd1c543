"""Reads a recorder's spill file and joins it: an independent reading of spill_format.h."""
import struct
import zlib

MAGIC = 0x4B434750
(PROCESS, TEXT, DEVICES, STRINGS, RANGES, EVENTS, KERNEL_NAMES, KERNELS, COPIES, SETS, CLOCK,
 COUNTERS, WINDOW, END) = range(1, 15)
MODULE_BEGIN, MODULE_END, LAUNCH, NODE_CREATED, NODE_CLONED = range(1, 6)
COUNTER_NAMES = ("records", "dropped_records", "dropped_buffers", "untimed_records", "lost_events",
                 "lost_strings", "write_errors", "module_runs")


class Spill:
    """`is_truncated`: an incomplete chunk stands at the end."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.strings, self.ranges, self.kernel_names = {}, {}, {}
        self.texts, self.devices, self.records, self.windows, self.clocks = {}, [], [], [], []
        self.launches, self.modules, self.created, self.cloned = {}, [], {}, {}
        self.module_ends, self.repeated_correlations = 0, 0
        self.counters, self.process, self.ended, self.is_truncated = {}, None, False, False
        self.chunk_types = []
        self._executions = {}
        self._last_clone, self._children, self._members = {}, {}, {}
        self._copied = set()
        self._read()
        self._number_children()

    def _read(self):
        at = 0
        while at < len(self.data):
            if at + 16 > len(self.data):
                self.is_truncated = True
                return
            magic, kind, _, size, crc = struct.unpack_from("<IHHII", self.data, at)
            assert magic == MAGIC, f"no chunk at {at}"
            assert size % 8 == 0, f"a chunk of {size} bytes at {at}"
            payload = self.data[at + 16:at + 16 + size]
            if len(payload) < size:
                self.is_truncated = True
                return
            assert zlib.crc32(payload) == crc, f"checksum of the chunk at {at}"
            assert self.chunk_types or kind == PROCESS, "the first chunk is not the process's"
            self.chunk_types.append(kind)
            self._chunk(kind, payload)
            at += 16 + size

    def _chunk(self, kind, payload):
        if kind == PROCESS:
            names = ("version", "pid", "start", "cupti_version", "driver_version")
            self.process = dict(zip(names, struct.unpack_from("<IIQII", payload)))
        elif kind == TEXT:
            parts = payload.split(b"\0")
            for key, value in zip(parts[0::2], parts[1::2]):
                if key:
                    self.texts[key.decode()] = value.decode()
        elif kind == DEVICES:
            for at in range(0, len(payload) - 207, 208):
                ordinal, major = struct.unpack_from("<II", payload, at)
                name = payload[at + 112:at + 208].split(b"\0")[0].decode()
                bus = payload[at + 80:at + 112].split(b"\0")[0].decode()
                self.devices.append({"ordinal": ordinal, "major": major, "name": name, "bus": bus})
        elif kind in (STRINGS, KERNEL_NAMES):
            self._strings(self.strings if kind == STRINGS else self.kernel_names, payload)
        elif kind == RANGES:
            for at in range(0, len(payload) - 15, 16):
                number, parent, string = struct.unpack_from("<III", payload, at)
                if number:
                    self.ranges[number] = (parent, string)
        elif kind == EVENTS:
            self._events(payload)
        elif kind == KERNELS:
            for at in range(0, len(payload) - 87, 88):
                value = struct.unpack_from("<QQQIIIIII3I3I", payload, at)
                self._record("kernel", value[0:3], *value[3:5], value[6], value[9], value[5])
        elif kind == COPIES:
            for at in range(0, len(payload) - 63, 64):
                start, end, size, node, graph, correlation, device = struct.unpack_from(
                    "<QQQQIII", payload, at)
                self._record("copy", (start, end, node), graph, correlation, device, size)
        elif kind == SETS:
            for at in range(0, len(payload) - 63, 64):
                start, end, _, node, graph, correlation, device, _, _, value = struct.unpack_from(
                    "<QQQQIIIIII", payload, at)
                self._record("set", (start, end, node), graph, correlation, device, value)
        elif kind == CLOCK:
            for at in range(0, len(payload) - 15, 16):
                self.clocks.append(struct.unpack_from("<QQ", payload, at))
        elif kind == COUNTERS:
            self.counters = dict(zip(COUNTER_NAMES, struct.unpack_from("<8Q", payload)))
        elif kind == WINDOW:
            state, string, time, first, last = struct.unpack_from("<IIQQQ", payload)
            reason = payload[32:].split(b"\0")[0].decode()
            self.windows.append({"state": state, "string": string, "time": time, "first": first,
                                 "last": last, "reason": reason})
        elif kind == END:
            self.ended = True

    @staticmethod
    def _strings(table, payload):
        at = 0
        while at + 8 <= len(payload):
            number, size = struct.unpack_from("<II", payload, at)
            if number == 0:
                break
            table[number] = payload[at + 8:at + 8 + size].decode()
            at += 8 + (size + 3) // 4 * 4

    def _events(self, payload):
        thread, _, _ = struct.unpack_from("<IIQ", payload)
        for at in range(16, len(payload) - 31, 32):
            kind, device, callback, stack = struct.unpack_from("<BBHI", payload, at)
            if kind in (MODULE_BEGIN, MODULE_END):
                time, index, execution = struct.unpack_from("<QQI", payload, at + 8)
                if kind == MODULE_END:
                    self.module_ends += 1
                    continue
                run = {"device": device, "stack": stack, "time": time, "index": index}
                self.modules.append(run)
                self._executions[thread] = (execution, run)
            elif kind == LAUNCH:
                time, _, correlation, scope, execution = struct.unpack_from("<QIIII", payload,
                                                                            at + 8)
                open_execution, run = self._executions.get(thread, (0, None))
                if correlation in self.launches:
                    self.repeated_correlations += 1
                self.launches[correlation] = {
                    "time": time, "stack": stack, "callback": callback, "scope": scope,
                    "run": run if execution and execution == open_execution else None,
                    "execution": execution}
            elif kind in (NODE_CREATED, NODE_CLONED):
                node, original = struct.unpack_from("<QQ", payload, at + 8)
                self._members.setdefault(node >> 32, set()).add(node)
                copied = self._last_clone.pop(thread, None)
                if kind == NODE_CREATED:
                    self.created[node] = stack
                    if copied is not None and copied != node >> 32:
                        self._children[node] = copied
                else:
                    self.cloned[node] = original
                    self._copied.add(original >> 32)
                    self._children.pop(node, None)
                    self._last_clone[thread] = node >> 32

    def _child(self, node):
        """Of a node that is a child graph: the graph that was copied for it right before it was made,
        and that is copied again with it."""
        while node in self.cloned:
            node = self.cloned[node]
        child = self._children.get(node)
        return child if child in self._copied else None

    def _number_children(self):
        """Records name nodes of child graphs by numbers that follow those of the executable graph's
        own nodes. How those of children of children are numbered is not known."""
        for members in list(self._members.values()):
            own = sorted(member for member in members if member in self.cloned)
            at = own[-1] + 1 if own else 0
            for node in own:
                child = self._child(node)
                if child is None:
                    continue
                inner = sorted(self._members[child])
                if any(self._child(member) is not None for member in inner):
                    break
                for member in inner:
                    if at not in members:
                        self.cloned[at] = member
                    at += 1

    def _record(self, kind, times, graph, correlation, device, serial, name=0):
        if times == (0, 0, 0) and correlation == 0:
            return  # padding
        self.records.append({"kind": kind, "start": times[0], "end": times[1], "node": times[2],
                             "graph": graph, "correlation": correlation, "device": device,
                             "serial": serial, "name": name})

    def stack(self, number):
        """The texts of the ranges, outermost first, joined."""
        texts = []
        while number:
            number, string = self.ranges[number]
            texts.append(self.strings[string])
        return "::".join(reversed(texts))

    def node_stack(self, node):
        """Of the graph node that this one is a copy of, over all copies. CUPTI says of a copy also
        that it was created, on the thread that copies: that is not where it comes from."""
        while node in self.cloned:
            node = self.cloned[node]
        return self.created.get(node)

    def joined(self):
        """Records with `stack`, and `run` and `execution` of the launch. None: no launch is known."""
        for record in self.records:
            launch = self.launches.get(record["correlation"])
            stack = launch["stack"] if launch else None
            if record["node"]:
                stack = self.node_stack(record["node"])
            run = launch["run"] if launch else None
            yield {**record, "stack": None if stack is None else self.stack(stack),
                   "launched": launch is not None, "scope": launch["scope"] if launch else 0,
                   "launch_time": launch["time"] if launch else 0,
                   "run": self.stack(run["stack"]) if run else None,
                   "execution": run["index"] if run else None,
                   "run_device": run["device"] if run else None}
