#!@PYTHON@
# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/side_by_side.py, installed as shim_bench_compare: the shim, the MPI underneath and Open MPI in one table.

Short runs of shim_bench (both sides in one process) and of shim_bench_ompi take turns, a collective at a time, so that drift of
the machine falls on all. A number in the table is the median over the rounds of the runs' medians.

Each run times the floor too, that of a barrier besides. Where the two floors of a turn differ, the cpus of a virtual machine have changed their distance in between,
and the turn is taken again: the two would not compare.
"""
import argparse
import csv
import io
import os
import shlex
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
MPICH_EXEC, OPENMPI_EXEC, LIBDIR = "@MPICH_EXEC@", "@OPENMPI_EXEC@", "@libdir@"
YARDSTICK = "barrier"  # has a floor, which takes no time to measure
QUICK = ["--max", "1M", "--factor", "8", "--seconds", "0.02"]  # the user's options come later, and win
AGAIN, ALIKE = 4, 1.25  # takes of one turn at most; factor between two floors of one machine
RUN_LIMIT = 900  # seconds; a run that takes longer hangs
DIFFERENT, BAD_ARGUMENT = 1, 2  # as shim_bench
COLUMNS = ["ranks", "collective", "bytes", "type", "op", "shim_us", "mpich_us", "openmpi_us", "floor_us", "ratio", "x_floor",
           "in_place", "backend", "same"]


def say(text):
    print("shim_bench_compare: " + text, file=sys.stderr)


def die(text):
    say(text)
    sys.exit(BAD_ARGUMENT)


# ---- the command line ----

def counts(text):
    words = text.split(",")
    if not all(word.isdigit() and int(word) > 0 for word in words):
        raise argparse.ArgumentTypeError('"%s": only whole numbers above 0 are possible' % text)
    return [int(word) for word in words]


def one_count(text):
    return counts(text)[0]


def find_shim():
    """In a build folder the library lies in .libs; where this is installed there is no such folder."""
    places = [os.path.join(folder, "libmpi_shim.so") for folder in (os.path.join(HERE, "..", ".libs"), LIBDIR)]
    return next((os.path.realpath(place) for place in places if os.path.exists(place)), None)


def read_arguments():
    parser = argparse.ArgumentParser(
        prog="shim_bench_compare", usage="shim_bench_compare [OPTION]... [-- OPTION-OF-SHIM_BENCH...]",
        description="Times collectives through the shim, the MPI underneath and Open MPI, in turns, and prints one table.",
        epilog="What follows -- goes to shim_bench (default: %s)." % " ".join(QUICK))
    add = parser.add_argument
    add("-N", "--ranks", type=counts, default=[2], metavar="LIST", help="numbers of ranks, separated by commas (default 2)")
    add("-R", "--rounds", type=one_count, default=3, metavar="N", help="runs of each MPI and collective (default 3)")
    add("-c", "--collective", metavar="LIST", help="collectives to time, separated by commas (default: all)")
    add("-F", "--format", choices=["text", "csv"], default="text", help="of the table (default text)")
    add("-p", "--plot", metavar="DIR", help="draw pictures into DIR, and write results.csv there; needs gnuplot")
    add("--shim", metavar="LIBRARY", default=find_shim(),
        help="what is preloaded (default: the libmpi_shim.so built or installed)")
    add("--mpich", metavar="COMMAND", default=MPICH_EXEC, help="launcher of the MPI underneath (default: %(default)s)")
    add("--openmpi", metavar="COMMAND", default=(OPENMPI_EXEC or "no") + " --allow-run-as-root --oversubscribe",
        help="launcher of Open MPI; no: without (default: %(default)s)")
    add("options", nargs="*", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.shim is None:
        die("libmpi_shim.so was not found; name it with --shim")
    return args


# ---- runs ----

class Peers:
    """The commands that are run in turns: name -> what makes the command line of a run."""

    def __init__(self, args):
        bench, peer = (os.path.join(HERE, name) for name in ("shim_bench", "shim_bench_ompi"))
        self.options = QUICK + args.options
        self.good = True
        # `env` sets the variable with every launcher, and for the ranks alone
        self.commands = {"mpich": (shlex.split(args.mpich), ["env", "LD_PRELOAD=" + args.shim, bench])}
        launcher = shlex.split(args.openmpi)
        if launcher[:1] == ["no"]:
            say("without Open MPI")
        elif not os.path.exists(peer):
            say("without Open MPI: %s was not built (configure found no compiler wrapper of it)" % peer)
        else:
            self.commands["openmpi"] = (launcher, [peer, "--sides", "mpi"])

    def run(self, name, ranks, collective):
        """One run's lines, as dicts; none if it failed, as MPIs do: the others go on. A wrong argument ends the program."""
        launcher, program = self.commands[name]
        command = launcher + ["-n", str(ranks)] + program + self.options + ["-c", collective, "-F", "csv"]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  universal_newlines=True, timeout=RUN_LIMIT, check=False)
        except OSError as error:
            die("%s: %s" % (command[0], error.strerror))
        except subprocess.TimeoutExpired:
            return self.fail("no end after %d s: %s" % (RUN_LIMIT, " ".join(command)))
        lines = list(csv.DictReader(io.StringIO(done.stdout)))
        if done.returncode == BAD_ARGUMENT or (done.returncode == 0 and (not lines or "shim_us" not in lines[0])):
            die(done.stderr.strip() or "no table came from: " + " ".join(command))
        if done.returncode not in (0, DIFFERENT):
            return self.fail("status %d: %s\n%s" % (done.returncode, " ".join(command), done.stderr.strip()[-600:]))
        return lines

    def fail(self, text):
        say(text)
        self.good = False
        return []


def list_collectives(args):
    """All that shim_bench knows, unless some are asked for: it checks their names itself."""
    if args.collective:
        return args.collective.split(",")
    command = shlex.split(args.mpich) + ["-n", "1", os.path.join(HERE, "shim_bench"), "--list"]
    try:
        text = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        die("%s: %s" % (" ".join(command), error))
    return next(line.split()[1:] for line in text.splitlines() if line.startswith("collectives:"))


class Status:
    """One line on standard error that is written again and again, if that is a terminal."""

    def __init__(self, total):
        self.on, self.total, self.done, self.start = sys.stderr.isatty(), total, 0, time.monotonic()

    def show(self, text):
        if self.on:
            left = ""
            if self.done > 0:
                left = ", about %.0f s left" % ((time.monotonic() - self.start) * (self.total / self.done - 1))
            sys.stderr.write("\r\033[K%s: %d%% done%s" % (text, 100 * self.done // self.total, left))
            sys.stderr.flush()

    def end(self):
        if self.on:
            sys.stderr.write("\r\033[K")


class Table:
    """Samples by (ranks, collective, bytes), in the order in which they first come."""

    def __init__(self):
        self.samples, self.facts = {}, {}

    def add(self, ranks, peer, lines):
        sides = {"shim": "shim_us", "mpich": "mpi_us", "floor": "floor_us"} if peer == "mpich" else {"openmpi": "mpi_us"}
        for line in lines:
            key = (ranks, line["collective"], int(line["bytes"]))
            of_key = self.samples.setdefault(key, {})
            for side, column in sides.items():
                if float(line[column]) > 0:
                    of_key.setdefault(side, []).append(float(line[column]))
            if peer == "mpich":
                same = line["same"] if self.facts.get(key, line)["same"] == "yes" else "no"
                self.facts[key] = dict(line, same=same)

    def rows(self):
        """Dicts by COLUMNS; None where a number is not known."""
        for key in sorted(self.facts, key=lambda key: key[0]):
            us = {side: statistics.median(numbers) for side, numbers in self.samples[key].items()}
            shim, floor = us.get("shim"), us.get("floor")
            peers = [us[side] for side in ("mpich", "openmpi") if side in us]
            row = {column: self.facts[key].get(column) for column in COLUMNS}
            row.update({side + "_us": us.get(side) for side in ("shim", "mpich", "openmpi", "floor")})
            row.update(ranks=key[0], ratio=min(peers) / shim if shim and peers else None,
                       x_floor=shim / floor if shim and floor else None)
            yield row


def alike(turn):
    """Whether all runs of a turn found the same floor, as far as they know it."""
    floors = [{line["bytes"]: float(line["floor_us"]) for line in lines} for lines in turn.values()]
    for other in floors[1:]:
        known = [floors[0][size] / other[size] for size in other if other[size] > 0 and floors[0].get(size, 0) > 0]
        if known and not 1 / ALIKE < statistics.median(known) < ALIKE:
            return False
    return True


def take_turn(peers, order, ranks, collective, status):
    """Lines of one run of each, by name."""
    for _ in range(AGAIN):
        turn = {}
        for peer in order:
            status.show("%d ranks, %s" % (ranks, collective))
            both = collective if collective == YARDSTICK else collective + "," + YARDSTICK
            turn[peer] = peers.run(peer, ranks, both)
        if ranks > len(os.sched_getaffinity(0)) or alike(turn):  # ranks that share cpus have no floor to speak of
            break
    status.done += len(order)
    return {peer: [line for line in lines if line["collective"] == collective] for peer, lines in turn.items()}


def measure(args, peers):
    table = Table()
    collectives = list_collectives(args)
    status = Status(args.rounds * len(args.ranks) * len(collectives) * len(peers.commands))
    try:
        for turn in range(args.rounds):
            order = list(peers.commands)[::-1 if turn % 2 else 1]
            for ranks in args.ranks:
                for collective in collectives:
                    for peer, lines in take_turn(peers, order, ranks, collective, status).items():
                        table.add(ranks, peer, lines)
    except KeyboardInterrupt:
        status.end()
        say("interrupted after %d of %d runs; this is what they gave" % (status.done, status.total))
    status.end()
    return list(table.rows())


# ---- output ----

def write_csv(rows, file):
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({column: "%.4f" % value if isinstance(value, float) else value for column, value in row.items()})


def write_text(rows, rounds):
    """ratio: the better peer's time by the shim's."""
    print("# microseconds a call, medians of %d rounds; ratio: the better of the two MPIs / shim" % rounds)
    print("%5s %-20s %9s %11s %11s %11s %11s %8s %8s  %s" % ("ranks", "collective", "bytes", "shim us", "MPICH us",
                                                           "Open MPI us", "floor us", "ratio", "x floor", "backend"))
    for row in rows:
        numbers = [("%.2f" % row[column]) if row[column] is not None else "-"
                   for column in ("shim_us", "mpich_us", "openmpi_us", "floor_us", "ratio", "x_floor")]
        print("%5d %-20s %9s %11s %11s %11s %11s %8s %8s  %s%s" % (
            row["ranks"], row["collective"], row["bytes"], *numbers, row["backend"],
            "" if row["same"] == "yes" else "  RESULTS DIFFER"))


def main():
    args = read_arguments()
    plot = os.path.join(HERE, "shim_bench_plot")
    # before minutes are spent on measuring
    if args.plot and subprocess.run([plot, "--check"], check=False).returncode != 0:
        sys.exit(BAD_ARGUMENT)
    peers = Peers(args)
    rows = measure(args, peers)
    if args.format == "csv":
        write_csv(rows, sys.stdout)
    else:
        write_text(rows, args.rounds)
    sys.stdout.flush()
    if args.plot and rows:
        os.makedirs(args.plot, exist_ok=True)
        results = os.path.join(args.plot, "results.csv")
        with open(results, "w", encoding="utf-8") as file:
            write_csv(rows, file)
        subprocess.run([plot, results, args.plot], check=True)
    sys.exit(0 if peers.good and all(row["same"] == "yes" for row in rows) else DIFFERENT)


if __name__ == "__main__":
    main()
