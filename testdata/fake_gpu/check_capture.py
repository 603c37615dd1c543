#!/usr/bin/env python3
"""Compares a spill file with the truth that fake_xla printed: every record must be one thing that
the program gave a device, attributed as the program's own stack says, and nothing that should be
there may lack. Prints what it found as JSON; status 1 and a line each for what is wrong."""
import argparse
import bisect
import collections
import json
import sys

import spill as spills


def read_truth(path, pid):
    truth = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.endswith("\n"):
                break  # the program was killed while it wrote
            entry = json.loads(line)
            if entry["pid"] == pid:
                entry["seen"] = False
                truth[entry["kind"], entry["serial"]].append(entry)
    for entries in truth.values():
        entries.sort(key=lambda entry: entry["time"])
    return truth


def find(truth, record):
    """The entry of the launch: the first one noted after the call was entered. A graph may hold one
    node several times, by child graphs; each is found once."""
    entries = truth.get((record["kind"], record["serial"]), [])
    at = bisect.bisect_left([entry["time"] for entry in entries], record["launch_time"])
    return next((entry for entry in entries[at:] if not entry["seen"]), None)


def differences(record, entry):
    wanted = {"device": entry["device"], "stack": entry["stack"] or "", "scope": entry["scope"],
              "run": entry["run"], "execution": entry["execution"], "graph": entry["graph"]}
    run = record["run"]
    seen = {"device": record["device"], "stack": record["stack"], "scope": record["scope"],
            "run": run.split("::XlaModule:")[-1] if run else None,
            "execution": record["execution"], "graph": record["node"] != 0}
    if run and not seen["run"].startswith("XlaModule:"):
        seen["run"] = "XlaModule:" + seen["run"]
    return [f"{key} is {seen[key]!r}, not {wanted[key]!r}" for key in wanted
            if seen[key] != wanted[key]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spill")
    parser.add_argument("truth")
    parser.add_argument("--window", help="A:B: executions of --module that must be there whole")
    parser.add_argument("--module", default="jit_train_step")
    parser.add_argument("--all", action="store_true",
                        help="all that was launched between the window's opening and closing")
    parser.add_argument("--margin", type=float, default=0,
                        help="of --all, ms: what was launched so shortly before the closing may lack")
    parser.add_argument("--lost-at-most", type=float, metavar="MS",
                        help="all that was launched in the window is there, but for the last MS")
    parser.add_argument("--untimed-every", type=int, metavar="N",
                        help="every n-th record is without times")
    parser.add_argument("--dropped", type=int, default=0, help="records that CUPTI dropped")
    parser.add_argument("--dropped-any", action="store_true", help="some number of records lacks")
    parser.add_argument("--truncated", action="store_true", help="the process was killed")
    parser.add_argument("--all-executions", action="store_true",
                        help="the times of every execution of every module are there")
    parser.add_argument("--at-least", type=int, default=1, help="records")
    parser.add_argument("--no-truth-yet", action="store_true",
                        help="the program was killed: what it had not yet written is no fault")
    options = parser.parse_args()

    spill = spills.Spill(options.spill)
    truth = read_truth(options.truth, spill.process["pid"])
    faults = []
    unknown = unlaunched = untimed = in_graphs = 0
    for record in sorted(spill.joined(), key=lambda record: record["launch_time"]):
        if not record["launched"]:
            # Callbacks are on a little shorter than activity is. What the window lacks by that is
            # missing below.
            unlaunched += 1
            continue
        entry = find(truth, record)
        if entry is None:
            unknown += 1
            continue
        entry["seen"] = True
        in_graphs += record["node"] != 0
        faults += [f"{record['kind']} {record['serial']}: {text}"
                   for text in differences(record, entry)]
        if record["start"] == 0 or record["end"] == 0:
            untimed += 1
        elif record["start"] > record["end"] or (
                record["is_entry_known"] and record["start"] < record["launch_time"]):
            # (A call that was entered before the callbacks came on has the time of its return, and
            # no duration.)
            faults.append(f"times of {record}")

    entries = [entry for group in truth.values() for entry in group]
    wanted = []
    if options.all:
        times = {change["state"]: change["time"] for change in spill.windows}
        until = times[3] - options.margin * 1e6
        wanted = [entry for entry in entries if times[2] <= entry["called"] < until]
        if not wanted:
            faults.append("the truth has nothing in the window")
    elif options.lost_at_most is not None:
        opened = next(change["time"] for change in spill.windows if change["state"] == 2)
        until = max(entry["time"] for entry in entries) - options.lost_at_most * 1e6
        wanted = [entry for entry in entries if opened <= entry["called"] < until]
        if not wanted:
            faults.append("the truth has nothing in the window")
    elif options.window:
        first, last = (int(text) for text in options.window.split(":"))
        wanted = [entry for entry in entries
                  if entry["run"] and f"hlo_module={options.module}," in entry["run"]
                  and first <= entry["execution"] < last]
        if not wanted:
            faults.append("the truth has nothing in the window")
    missing = [entry for entry in wanted if not entry["seen"]]
    if len(missing) > options.dropped:
        faults.append(f"{len(missing)} of {len(wanted)} are missing, the first: {missing[0]}")
    if unknown and not options.no_truth_yet:
        faults.append(f"{unknown} records of nothing that the program did")
    dropped = spill.counters.get("dropped_records", 0)
    if options.dropped_any:
        if dropped + spill.counters["dropped_buffers"] == 0:
            faults.append("nothing was dropped")
    elif dropped != options.dropped or spill.counters.get("dropped_buffers", 0):
        faults.append(f"dropped: {spill.counters}")
    untimed_wanted = len(spill.records) // options.untimed_every if options.untimed_every else 0
    if abs(untimed - untimed_wanted) > 2 or (
            spill.counters and not options.truncated
            and spill.counters["untimed_records"] != untimed):
        faults.append(f"untimed: {untimed}, {spill.counters}")
    if not options.truncated and (spill.is_truncated or not spill.ended):
        faults.append("the file has no end")
    if len(spill.records) < options.at_least:
        faults.append(f"only {len(spill.records)} records")
    for counter in ("lost_events", "lost_strings", "write_errors"):
        if spill.counters.get(counter, 0):
            faults.append(f"{counter}: {spill.counters[counter]}")
    runs = collections.Counter()
    for run in spill.modules:
        key = (spill.stack(run["stack"]), run["device"])
        runs[key] += 1
    if options.all_executions:
        executions = {(entry["run"], entry["device"], entry["execution"])
                      for entry in entries if entry["run"]}
        if sum(runs.values()) != len(executions):
            faults.append(f"{sum(runs.values())} executions of {len(executions)}")

    json.dump({"records": len(spill.records), "in_graphs": in_graphs, "truth": len(entries),
               "wanted": len(wanted), "missing": len(missing),
               "unlaunched": unlaunched, "untimed": untimed,
               "repeated_correlations": spill.repeated_correlations,
               "devices": len(spill.devices), "module_runs": sum(runs.values()),
               "counters": spill.counters, "windows": spill.windows,
               "cupti_version": spill.process["cupti_version"], "ended": spill.ended},
              sys.stdout)
    print()
    for fault in faults[:10]:
        print(f"FAILED: {fault[:400]}", file=sys.stderr)
    if len(faults) > 10:
        print(f"FAILED: and {len(faults) - 10} more", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
