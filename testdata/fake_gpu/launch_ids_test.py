#!/usr/bin/env python3
"""Holds the recorder's list of driver functions against cupti_driver_cbid.h: the numbers are those of
functions that give a device work, and of all of them but for the exceptions below."""
import re
import sys

# Of the driver's first years, gone since, or of the host.
NOT_LISTED = re.compile(r"cuLaunch|cuLaunchGrid(Async)?|cuMemcpy_v2|cuLaunchHostFunc\w*"
                        r"|cuLaunchCooperativeKernelMultiDevice")
WORK = re.compile(r"cuLaunch\w*|cuMem(cpy|set)\w*|cuGraphLaunch\w*")


def main(subscriber, header):
    with open(header, encoding="utf-8") as file:
        names = {int(number): name for name, number in
                 re.findall(r"CUPTI_DRIVER_TRACE_CBID_(\w+)\s*=\s*(\d+)", file.read())}
    with open(subscriber, encoding="utf-8") as file:
        table = re.search(r"kLaunchFunctions\[\] = \{(.*?)\n\};", file.read(), re.S).group(1)
    listed = set()
    for first, last in re.findall(r"\{(\d+), (\d+)\}", table):
        listed.update(range(int(first), int(last) + 1))
    faults = [f"{number} is {names[number]}, which gives no device work"
              for number in sorted(listed & names.keys())
              if not WORK.fullmatch(names[number]) or NOT_LISTED.fullmatch(names[number])]
    for number, name in sorted(names.items()):
        is_replaced = f"{name}_v2" in names.values()  # programs of today call the later one
        if (WORK.fullmatch(name) and not NOT_LISTED.fullmatch(name) and not is_replaced
                and number not in listed):
            faults.append(f"{name} ({number}) is not in the recorder's list")
    for fault in faults:
        print(fault)
    return 1 if faults or not listed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
