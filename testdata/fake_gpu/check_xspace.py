#!/usr/bin/env python3
"""Compares an .xplane.pb with the truth that fake_xla printed: of every kernel, copy and memset of the
window's steps there is one event on its device's plane, with its op and its module, and every event
is something that the program did. Status 1 and a line each for what is wrong."""
import argparse
import collections
import json
import sys


def fields(data):
    """Of a protobuf message: (number, value), bytes or integers."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, data[at:at + 8]
            at += 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size


def only(data, number, otherwise=0):
    return next((value for found, value in fields(data) if found == number), otherwise)


class Plane:
    def __init__(self, data):
        self.name = only(data, 2, b"").decode()
        self.stat_names, self.metadata, self.events = {}, {}, []
        lines = []
        for number, value in fields(data):
            if number == 5:
                self.stat_names[only(value, 1)] = only(only(value, 2, b""), 2, b"").decode()
            elif number == 4:
                self.metadata[only(value, 1)] = only(value, 2, b"")
            elif number == 3:
                lines.append(value)
        for line in lines:
            self.events += [value for number, value in fields(line) if number == 4]

    def stats(self, event):
        """Of an event, behind those of its metadata."""
        metadata = self.metadata.get(only(event, 1), b"")
        stats = [value for number, value in fields(metadata) if number == 5]
        stats += [value for number, value in fields(event) if number == 4]
        found = {}
        for stat in stats:
            name = self.stat_names.get(only(stat, 1), "")
            for number, value in fields(stat):
                if number == 7:
                    found[name] = self.stat_names.get(value, "")
                elif number == 5:
                    found[name] = value.decode()
                elif number in (3, 4):
                    found[name] = value
        return found


def identify(stats):
    """(kind, serial) of an event; memsets carry no number of the program's."""
    for word in stats.get("kernel_details", "").split():
        if word.startswith("grid:"):
            return "kernel", int(word[5:].split(",")[0])
    for word in stats.get("memcpy_details", "").split():
        if word.startswith("size:"):
            return "copy", int(word[5:])
    return "set", 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("xspace")
    parser.add_argument("truth")
    parser.add_argument("window", help="A:B: executions of jit_train_step")
    options = parser.parse_args()
    first, last = (int(text) for text in options.window.split(":"))

    truth, wanted = {}, collections.Counter()
    wanted_sets = collections.Counter()
    with open(options.truth, encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            key = (entry["device"], entry["kind"], entry["serial"])
            truth[key] = entry
            if (entry["run"] and "hlo_module=jit_train_step," in entry["run"]
                    and first <= entry["execution"] < last):
                if entry["kind"] == "set":
                    wanted_sets[entry["device"], entry["op"]] += 1
                else:
                    wanted[key] += 1

    with open(options.xspace, "rb") as file:
        planes = [Plane(value) for number, value in fields(file.read()) if number == 1]
    faults, seen, seen_sets = [], collections.Counter(), collections.Counter()
    for plane in planes:
        if not plane.name.startswith("/device:GPU:"):
            continue
        device = int(plane.name[len("/device:GPU:"):])
        for event in plane.events:
            stats = plane.stats(event)
            kind, serial = identify(stats)
            if kind == "set":
                seen_sets[device, stats.get("hlo_op")] += 1
                continue
            entry = truth.get((device, kind, serial))
            if entry is None:
                faults.append(f"{plane.name} has a {kind} {serial} that the program did not do")
                continue
            seen[device, kind, serial] += 1
            for stat, key in (("hlo_op", "op"), ("hlo_module", "module")):
                if stats.get(stat) != entry[key]:
                    faults.append(f"{plane.name}: {kind} {serial}: {stat} is {stats.get(stat)}, "
                                  f"not {entry[key]}")
    if not wanted:
        faults.append("the truth has nothing in the window")
    faults += [f"{key}: {seen[key]} events, not {count}" for key, count in wanted.items()
               if seen[key] != count]
    faults += [f"memsets {key}: {seen_sets[key]} events, not {count}"
               for key, count in wanted_sets.items() if seen_sets[key] != count]
    for fault in faults[:10]:
        print(fault)
    if len(faults) > 10:
        print(f"and {len(faults) - 10} more")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
