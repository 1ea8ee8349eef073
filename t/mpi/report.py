#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Answers questions about a report of the shim (MPI_SHIM_REPORT).

report.py FILE check          the file is JSON and its numbers agree with each other
report.py FILE calls NAME     number of calls of MPI_NAME, 0 if absent
report.py FILE core NAME      how many of them the core served
report.py FILE reason NAME R  how many of them for reason R
report.py FILE algorithms NAME  the algorithms that served it
report.py FILE only-core [EXCEPT...]  every function was served by the core alone, but for calls of the reasons EXCEPT
"""
import json
import sys

BACKENDS = {"aiv", "aicpu", "mpi"}


def check(functions):
    for name, f in functions.items():
        served = f["served"]
        core_calls = served["aiv"] + served["aicpu"]
        problems = [
            text
            for bad, text in [
                (set(served) != BACKENDS, "served has other backends"),
                (f["calls"] < 1, "no calls"),
                (sum(served.values()) != f["calls"], "served does not add up to calls"),
                (sum(f["reasons"].values()) != f["calls"], "reasons do not add up to calls"),
                (sum(f["algorithms"].values()) < core_calls, "calls of the core without an algorithm"),
                (any(a.split("/")[0] not in BACKENDS or "/" not in a for a in f["algorithms"]), "an odd algorithm name"),
                (f["seconds"] < 0 or f["bytes"] < 0, "negative numbers"),
            ]
            if bad
        ]
        for text in problems:
            print(f"{name}: {text}: {json.dumps(f)}")
        if problems:
            return 1
    return 0


def only_core(functions, exceptions):
    bad = 0
    for name, f in functions.items():
        excused = sum(f["reasons"].get(reason, 0) for reason in exceptions)
        if f["served"]["mpi"] > excused:
            print(f"{name}: {f['served']['mpi']} of {f['calls']} calls by MPI: {json.dumps(f['reasons'])}")
            bad = 1
    return bad


def main(path, question, *args):
    try:
        with open(path, encoding="utf-8") as file:
            functions = json.load(file)["functions"]
    except (OSError, ValueError, KeyError) as error:
        print("no report:", error)
        return 1
    if question == "check":
        return check(functions)
    if question == "only-core":
        return only_core(functions, args)
    f = functions.get("MPI_" + args[0])
    if f is None:
        print(0)
    elif question == "calls":
        print(f["calls"])
    elif question == "core":
        print(f["served"]["aiv"] + f["served"]["aicpu"])
    elif question == "algorithms":
        print(*sorted(f["algorithms"]))
    elif question == "reason":
        print(f["reasons"].get(args[1], 0))
    return 0


sys.exit(main(*sys.argv[1:]))
