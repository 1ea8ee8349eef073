#!@PYTHON@
# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/plot.py, installed as shim_bench_plot: pictures of a table of shim_bench_compare, drawn by gnuplot.

For each number of ranks: a picture a collective with the time of a call over the size, and a map of the speed-up over the better
MPI, size by collective.
"""
import argparse
import csv
import math
import os
import shutil
import subprocess
import sys

BAD_ARGUMENT = 2
SIDES = [  # column, name, style; the shim last, so that it lies on top
    ("floor_us", "floor (the work without a library)", "lines lw 2 dt (8,5) lc rgb '#808080'"),
    ("openmpi_us", "Open MPI", "linespoints lw 2 pt 9 ps 1.3 lc rgb '#2a9d55'"),
    ("mpich_us", "MPICH", "linespoints lw 2 pt 5 ps 1.1 lc rgb '#e07b00'"),
    ("shim_us", "shim", "linespoints lw 3 pt 7 ps 1.2 lc rgb '#1f4fb4'"),
]
TERMINALS = {"png": "pngcairo noenhanced font 'sans,12' size %d,%d",
             "svg": "svg noenhanced font 'sans,12' size %d,%d background '#ffffff'"}
MOST = 3  # the map's colours end at a ratio of 2 to the power of this, and of minus this


def die(text):
    print("shim_bench_plot: " + text, file=sys.stderr)
    sys.exit(BAD_ARGUMENT)


def find_gnuplot():
    name = os.environ.get("GNUPLOT", "gnuplot")
    path = shutil.which(name)
    if path is None:
        die("%s is not installed, and it draws the pictures. Debian: apt-get install gnuplot-nox" % name)
    return path


def number(text):
    return float(text) if text else None


def read_table(path):
    """Rows with numbers as numbers; None where there is none."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row.update(ranks=int(row["ranks"]), bytes=int(row["bytes"]), ratio=number(row["ratio"]))
            row.update({column: number(row[column]) for column, _, _ in SIDES})
    except OSError as error:
        die("%s: %s" % (path, error.strerror))
    except (KeyError, ValueError, TypeError):
        die("%s: not a table that shim_bench_compare --format csv has written" % path)
    return rows


# ---- labels ----

def bytes_label(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024 or unit == "MiB":
            return "%g %s" % (round(size, 1), unit)
        size /= 1024
    return None


def time_label(us):
    for unit, scale in (("s", 1e6), ("ms", 1e3), ("µs", 1)):
        if us >= scale:
            return "%g %s" % (us / scale, unit)
    return "%g ns" % round(us * 1e3, 3)


def time_tics(low, high):
    """1, 2 and 5 of each decade as long as they find room."""
    steps = (1, 2, 5) if high / low < 2000 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0 ** decade for decade in decades for step in steps if low <= step * 10.0 ** decade <= high]


def size_tics(low, high):
    """Powers of two, at most ten, so that the labels do not touch."""
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    return [2 ** power for power in range(first, last + 1, max(1, math.ceil((last - first) / 9)))]


def tics(axis, values, label):
    return "set %stics (%s)" % (axis, ", ".join('"%s" %.9g' % (label(value), value) for value in values))


# ---- pictures: each a list of gnuplot's lines ----

def title_of(rows, text):
    row = next((row for row in rows if row["op"] != "-"), rows[0])
    what = row["type"] if row["op"] == "-" else "%s, %s" % (row["type"], row["op"])
    place = ", in place" if any(row.get("in_place") == "yes" for row in rows) else ""
    return 'set title "%s, %d ranks (%s%s)" font ",15"' % (text, row["ranks"], what, place)


def latency(rows):
    """The time of a call over the size; both axes logarithmic, so without size 0."""
    lines, plots, values = [], [], []
    for column, name, style in SIDES:
        points = sorted((row["bytes"], row[column]) for row in rows if row[column] and row["bytes"] > 0)
        if points:
            values += points
            lines += ["$%s << END" % column] + ["%d %.6g" % point for point in points] + ["END"]
            plots.append('$%s using 1:2 with %s title "%s"' % (column, style, name))
    sizes, times = [size for size, _ in values], [us for _, us in values]
    margin = 1.25
    low, high = min(times) / margin, max(times) * margin
    return lines + [
        title_of(rows, rows[0]["collective"].capitalize()),
        "set logscale x 2", "set logscale y 10",
        "set xrange [%.9g:%.9g]" % (min(sizes) / margin, max(sizes) * margin), "set yrange [%.9g:%.9g]" % (low, high),
        tics("x", size_tics(min(sizes), max(sizes)), bytes_label), tics("y", time_tics(low, high), time_label),
        'set xlabel "size of a block"', 'set ylabel "time of a call (median)"',
        "set grid lt 1 lw 1 lc rgb '#e0e0e0'", "set border 3", "set tics nomirror out",
        "set bmargin 7", "set key at screen 0.5, screen 0.045 center horizontal reverse Left samplen 3 maxrows 1",
        "plot " + ", ".join(plots)]


def cell(row, x, y):
    """The rectangle's line and its number, which is white where the colour is dark."""
    shade = max(-MOST, min(MOST, math.log2(row["ratio"])))
    ink = "#ffffff" if abs(shade) > 0.65 * MOST else "#000000"
    text = "%.*f" % (2 if row["ratio"] < 10 else 1 if row["ratio"] < 100 else 0, row["ratio"])
    return "%d %d %.4f" % (x, y, shade), 'set label "%s" at %d,%d center front tc rgb "%s" font ",11"' % (text, x, y, ink)


def speedup(rows):
    """The ratio to the better MPI, a rectangle a size and collective."""
    names = list(dict.fromkeys(row["collective"] for row in rows))
    sizes = sorted({row["bytes"] for row in rows})
    cells, labels = zip(*(cell(row, sizes.index(row["bytes"]), names.index(row["collective"])) for row in rows))
    both = any(row["openmpi_us"] for row in rows)
    peer = "the better of MPICH and Open MPI" if both else "MPICH"
    powers = range(-MOST, MOST + 1)
    ends = {-MOST: "≤ ", MOST: "≥ "}
    return ["$cells << END", *cells, "END", *labels,
        title_of(rows, "Speed-up of the shim over %s" % peer),
        "set xrange [-0.5:%g]" % (len(sizes) - 0.5), "set yrange [%g:-0.5]" % (len(names) - 0.5),
        "set cbrange [%d:%d]" % (-MOST, MOST),
        "set palette defined (%d '#b2182b', %g '#f4a582', 0 '#f7f7f7', %g '#92c5de', %d '#2166ac')" % (
            -MOST, -MOST / 2, MOST / 2, MOST),
        "set xtics (%s) rotate by 40 right" % ", ".join('"%s" %d' % (bytes_label(size), x) for x, size in enumerate(sizes)),
        "set ytics (%s)" % ", ".join('"%s" %d' % (name, y) for y, name in enumerate(names)),
        "set cbtics (%s)" % ", ".join(
            '"%s%s" %d' % (ends.get(p, ""), "%d ×" % 2 ** p if p >= 0 else "1/%d ×" % 2 ** -p, p) for p in powers),
        'set xlabel "size of a block"',
        "set tics nomirror out", "unset key", "unset grid", "set border 3",
        "plot $cells using 1:2:(0.48):(0.46):3 with boxxyerror fs solid noborder lc palette"]


def pictures(rows):
    """Yields name, width, height, gnuplot's lines."""
    for ranks in sorted({row["ranks"] for row in rows}):
        of_ranks = [row for row in rows if row["ranks"] == ranks]
        for name in dict.fromkeys(row["collective"] for row in of_ranks):
            of_name = [row for row in of_ranks if row["collective"] == name]
            if len({row["bytes"] for row in of_name if row["bytes"] > 0}) > 1:
                yield "latency-%s-%d" % (name, ranks), 960, 640, latency(of_name)
        compared = [row for row in of_ranks if row["ratio"]]
        if compared:
            many_sizes = len({row["bytes"] for row in compared})
            many_names = len({row["collective"] for row in compared})
            width, height = max(900, 420 + 62 * many_sizes), max(420, 200 + 34 * many_names)
            yield "speedup-%d" % ranks, width, height, speedup(compared)


def draw(gnuplot, path, terminal, lines):
    output = "set output '%s'" % path.replace("'", "''")
    script = ["set encoding utf8", "set terminal " + terminal, output, *lines, "unset output"]
    done = subprocess.run([gnuplot], input="\n".join(script) + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", check=False)
    if done.returncode != 0 or not os.path.exists(path):
        die("gnuplot failed on %s:\n%s" % (path, done.stdout.strip()))


def main():
    parser = argparse.ArgumentParser(prog="shim_bench_plot", description="Draws what shim_bench_compare --format csv has written.")
    parser.add_argument("--format", choices=sorted(TERMINALS), default="png", help="of the pictures (default png)")
    parser.add_argument("--check", action="store_true", help="only see whether gnuplot is there")
    parser.add_argument("table", nargs="?", metavar="FILE", help="the table")
    parser.add_argument("folder", nargs="?", metavar="DIR", default=".", help="where the pictures go (default: here)")
    args = parser.parse_args()
    gnuplot = find_gnuplot()
    if args.check:
        return
    if args.table is None:
        parser.error("FILE is missing")
    os.makedirs(args.folder, exist_ok=True)
    for name, width, height, lines in pictures(read_table(args.table)):
        path = os.path.join(args.folder, "%s.%s" % (name, args.format))
        draw(gnuplot, path, TERMINALS[args.format] % (width, height), lines)
        print(path, file=sys.stderr)


if __name__ == "__main__":
    main()
