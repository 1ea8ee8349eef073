#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Generates everything that follows from wrappers/functions.txt.

usage: generate.py FUNCTIONS.txt KIND OUTPUT
KIND   entry     C without mpi.h: the exported MPI_ names, each a jump through one slot
       table.h   enum of functions, the PMPI table
       table.c   names and addresses for the tables
       wrappers  C: one wrapper for each collective, blocking, nonblocking and persistent, small and _c form; and for each blocking
                 call that has a nonblocking form
       map       linker version script
       list      the intercepted names, one a line (for tests)
"""
import sys

# kind -> (C type in the small form, C type in the _c form); parameter names are kinds
COUNTS = ("const int *", "const MPI_Count *")
DISPLS = ("const int *", "const MPI_Aint *")
ALLOCATION = "".join(f"        {name};\n" for name in (
    "malloc", "calloc", "realloc", "reallocarray", "free", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
    "malloc_usable_size"))
KINDS = {
    "sendbuf": "const void *", "recvbuf": "void *", "buffer": "void *",
    "count": ("int ", "MPI_Count "), "sendcount": ("int ", "MPI_Count "), "recvcount": ("int ", "MPI_Count "),
    "sendcounts": COUNTS, "recvcounts": COUNTS, "displs": DISPLS, "sdispls": DISPLS, "rdispls": DISPLS,
    "sadispls": "const MPI_Aint *", "radispls": "const MPI_Aint *",
    "datatype": "MPI_Datatype ", "sendtype": "MPI_Datatype ", "recvtype": "MPI_Datatype ",
    "sendtypes": "const MPI_Datatype *", "recvtypes": "const MPI_Datatype *",
    "op": "MPI_Op ", "root": "int ", "comm": "MPI_Comm ", "commp": "MPI_Comm *", "datatypep": "MPI_Datatype *",
    "class": "int ", "position": "int *", "size": "int ", "in": "const void *", "inout": "void *", "out": "void *",
    "bigcount": "MPI_Count ", "bigresult": "MPI_Count *", "rank": "int ", "tag": "int ", "result": "int *", "max": "int ", "argc": "int *", "argv": "char ***", "required": "int ", "provided": "int *", "errorcode": "int ",
    "string": "char *", "resultlen": "int *", "flag": "int *", "keyval": "int *", "keyvalin": "int ",
    "value": "void *", "extra": "void *", "copyfn": "MPI_Comm_copy_attr_function *",
    "deletefn": "MPI_Comm_delete_attr_function *", "text": "const char *", "lb": "MPI_Aint *",
    "extent": "MPI_Aint *",
    "ints": "int *", "ints_in": "const int *", "aints_in": "const MPI_Aint *", "aints": "MPI_Aint *", "types": "MPI_Datatype *", "status": "MPI_Status *",
    "requestp": "MPI_Request *", "requests": "MPI_Request *", "request": "MPI_Request ", "messagep": "MPI_Message *", "opp": "MPI_Op *",
    "index": "int *", "outcount": "int *", "indices": "int *", "source": "int ", "dest": "int ", "recvtag": "int ", "sendtag": "int ",
    "queryfn": "MPI_Grequest_query_function *", "freefn": "MPI_Grequest_free_function *",
    "cancelfn": "MPI_Grequest_cancel_function *", "pollfn": "int (*)(void *, MPI_Status *)", "waitfn": "int (*)(int, void **, double, MPI_Status *)", "statuses": "MPI_Status *",
    "memsize": "MPI_Aint ", "info": "MPI_Info ", "baseptr": "void *", "valuelen": "int ",
}
# which field of shim_call_t a collective's parameter fills; two fields where one argument plays both parts
FIELDS = {
    "buffer": ["sendbuf", "recvbuf"], "count": ["sendcount", "recvcount"], "datatype": ["sendtype", "recvtype"],
    "sendtypes": ["sendtypes"], "recvtypes": ["recvtypes"],
    "sadispls": ["sdispls"], "radispls": ["rdispls"],
}
# `displs` belongs to the side that has the array of counts
DISPL_SIDE = {"recvcounts": "rdispls", "sendcounts": "sdispls"}


def declare(ctype, name):
    """Pointers to functions have the name inside."""
    return ctype.replace("(*)", f"(*{name})", 1) if "(*)" in ctype else ctype + name


class Function:
    def __init__(self, cls, name, params, operator=None):
        self.words = int(params[0]) if cls.startswith("hold") else None
        self.kind, self.name, self.params, self.operator = cls.rstrip("?-"), name, params, operator
        self.optional, self.fast = cls.endswith("?"), cls == "coll"

    def forms(self):
        """(suffix, large) of the forms that exist."""
        if (self.kind in ("coll", "start", "init") and not self.name.lower().startswith(("barrier", "ibarrier"))) or (
                self.kind in ("wait", "late") and "count" in self.params):
            return [("", False), ("_c", True)]
        return [("", False)]

    def with_started(self):
        """A collective's three functions: blocking, nonblocking, persistent."""
        if self.kind != "coll":
            return [self]
        return [self, Function("start", "I" + self.name[0].lower() + self.name[1:], self.params + ["requestp"], self.operator),
                Function("init?", self.name + "_init", self.params + ["info", "requestp"], self.operator)]

    def ctype(self, param, large):
        kind = KINDS[param]
        return kind if isinstance(kind, str) else kind[1 if large else 0]

    def prototype(self, large):
        if self.words is not None:
            return ", ".join(f"shim_word_t a{i}" for i in range(self.words)) or "void"
        args = ", ".join(declare(self.ctype(p, large), f"a{i}") for i, p in enumerate(self.params))
        return args or "void"

    def arguments(self):
        return ", ".join(f"a{i}" for i in range(self.arity()))

    def arity(self):
        return len(self.params) if self.words is None else self.words

    def field(self, param):
        if param == "displs":
            side = next(DISPL_SIDE[p] for p in self.params if p in DISPL_SIDE)
            return [side]
        if param == "recvcount" and "educe_scatter_block" in self.name:
            return ["sendcount", "recvcount"]
        return FIELDS.get(param, [param])


def read_functions(path):
    functions = []
    with open(path, encoding="ascii") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            cls = words.pop(0)
            operator = words.pop(0) if cls.startswith("coll") else None
            name, params = words[0], words[1:]
            unknown = [p for p in params if p not in KINDS and not cls.startswith("hold")]
            if cls not in ("coll", "coll-", "own", "wait", "late", "hold", "hold?", "tick", "call", "call?", "callx?") or unknown:
                sys.exit(f"{path}:{number}: unknown class or kind: {cls} {unknown}")
            functions += Function(cls, name, params, operator).with_started()
    return functions


def header(comment="/* {} */"):
    return comment.format("Generated by wrappers/generate.py from wrappers/functions.txt. Do not edit.") + "\n"


def intercepted(functions):
    """(name with suffix, function, large) of each exported entry, in a fixed order."""
    return [(f.name + s, f, large) for f in functions if f.kind not in ("call", "callx") for s, large in f.forms()]


def entry(functions):
    """Arguments pass through untouched as machine words: a process whose MPI has pointer handles is not harmed."""
    out = [header(), '#include "wrappers/entry.h"\n']
    names = intercepted(functions)
    for i, (name, f, _) in enumerate(names):
        n = f.arity()
        params = ", ".join(f"shim_word_t a{k}" for k in range(n)) or "void"
        args = ", ".join(f"a{k}" for k in range(n))
        words = ", ".join(["shim_word_t"] * n) or "void"
        out.append(f"""
typedef shim_word_t (*entry_{name}_t)({words});
static shim_word_t first_{name}({params})
{{
    return ((entry_{name}_t)shim_entry_resolve({i}))({args});
}}
static shim_word_t entry_{name}({params})
{{
    return ((entry_{name}_t)atomic_load_explicit(&shim_slot[{i}], memory_order_acquire))({args});
}}
SHIM_EXPORT shim_word_t MPI_{name}({params}) __attribute__((alias("entry_{name}")));
""")
    out.append("\nconst unsigned shim_slot_count = %d;\n" % len(names))
    out.append("\nconst char *const shim_slot_name[] = {\n")
    out += [f'    "MPI_{name}",\n' for name, _, _ in names]
    out.append("};\n\nvoid *const shim_slot_entry[] = {\n")
    out += [f"    (void *)entry_{name},\n" for name, _, _ in names]
    out.append("};\n\n_Atomic(shim_any_fn_t) shim_slot[] = {\n")
    out += [f"    (shim_any_fn_t)first_{name},\n" for name, _, _ in names]
    out.append("};\n")
    return "".join(out)


def pmpi_entries(functions):
    return [(f.name + s, f, large) for f in functions for s, large in f.forms()]


def table_h(functions):
    out = [header(), "#ifndef SHIM_TABLE_H\n#define SHIM_TABLE_H\n\n#include <mpi.h>\n\n#include \"wrappers/entry.h\"\n\n"]
    out.append("/* Every intercepted function, in the order of the slots. */\ntypedef enum {\n")
    out += [f"    SHIM_FN_{name},\n" for name, _, _ in intercepted(functions)]
    out.append("    SHIM_FN_COUNT\n} shim_fn_t;\n\n")
    out.append("/* Entry points of the MPI underneath. NULL only for those an older library may lack. */\ntypedef struct {\n")
    for name, f, large in pmpi_entries(functions):
        out.append(f"    int (*{name})({f.prototype(large)});\n")
    out.append("} shim_pmpi_t;\n\nextern shim_pmpi_t shim_pmpi;\n\n")
    for name, f, large in intercepted(functions):
        out.append(f"int shim_{name}({f.prototype(large)});\n")
        if f.fast and not large:
            out.append(f"int shim_fast_{name}({f.prototype(large)});\n")
    out.append("\n/* Calls the nonblocking collective of the MPI underneath that `call` describes. */\n")
    out.append("struct shim_call;\nint shim_start_underneath(const struct shim_call *call, MPI_Request *request);\n")
    out.append("\n#endif\n")
    return "".join(out)


def table_c(functions):
    out = [header(), '#include <stddef.h>\n#include "mpi_shim/shim.h"\n\nshim_pmpi_t shim_pmpi;\n\n']
    out.append("const shim_symbol_t shim_pmpi_symbol[] = {\n")
    for name, f, large in pmpi_entries(functions):
        optional = "true" if f.optional or large else "false"
        symbol = "PMPIX_" + name[:-len("_x")] if f.kind == "callx" else "PMPI_" + name
        out.append(f'    {{"{symbol}", offsetof(shim_pmpi_t, {name}), {optional}}},\n')
    out.append("};\nconst unsigned shim_pmpi_symbol_count = sizeof(shim_pmpi_symbol) / sizeof(shim_pmpi_symbol[0]);\n\n")
    out.append("const shim_any_fn_t shim_served_entry[] = {\n")
    out += [f"    (shim_any_fn_t)shim_{name},\n" for name, _, _ in intercepted(functions)]
    out.append("};\n\nconst size_t shim_pmpi_of_slot[] = {\n")
    out += [f"    offsetof(shim_pmpi_t, {name}),\n" for name, _, _ in intercepted(functions)]
    out.append("};\n")
    return "".join(out)


BESIDE = ("requestp", "info")  # parameters of the started forms that are no part of what the collective does


def call_fields(name, f, large):
    fields = [f"        .fn = SHIM_FN_{name},\n"]
    if large:
        fields.append("        .large = true,\n")
    for i, p in enumerate(f.params):
        if p not in BESIDE:
            fields += [f"        .{field} = {'(void *)' if field == 'recvbuf' else ''}a{i},\n" for field in f.field(p)]
    return "".join(fields)


def started(name, f, large):
    """A nonblocking or persistent collective: the shim's own request, or the one of the MPI underneath."""
    return f"""
int shim_{name}({f.prototype(large)})
{{
    const shim_call_t call = {{
{call_fields(name, f, large)}    }};
    shim_watch_t watch = shim_watch_begin();
    int code = shim_{f.kind}_{f.operator}(&call, &watch, a{len(f.params) - 1});
    if (code == MPI_SUCCESS) {{
        return code; /* counted when it ends */
    }}
    if (code == SHIM_PASS) {{
        code = shim_pmpi.{name}({f.arguments()});
    }}
    shim_watch_end(&watch, &call);
    return code;
}}
"""


def start_underneath(functions):
    out = ["\nint shim_start_underneath(const shim_call_t *call, MPI_Request *request)\n{\n    switch (call->fn) {\n"]
    for name, f, large in intercepted(functions):
        if f.kind == "start":
            args = ", ".join("request" if p == "requestp" else "call->" + f.field(p)[-1] if "count" not in p or p.endswith("s") or large
                             else f"(int)call->{f.field(p)[-1]}" for p in f.params)
            out.append(f"    case SHIM_FN_{name}:\n        return shim_pmpi.{name}({args});\n")
    out.append("    default:\n        return MPI_ERR_INTERN; /* no other function makes such a request */\n    }\n}\n")
    return "".join(out)


def waiting(name, f, large):
    """A blocking call. While operators of the core are under way, or ranks outnumber cpus, its nonblocking form and a wait that lets them
    go on. `late` calls write a status when they end."""
    n = len(f.params)
    late = f.kind == "late"
    args = ", ".join(f"a{i}" for i in range(n - 1 if late else n))
    status = f"a{n - 1}" if late else "MPI_STATUS_IGNORE"
    inner = "I" + name[0].lower() + name[1:]
    return f"""
int shim_{name}({f.prototype(large)})
{{
    if (__builtin_expect(!shim_must_move(), 1)) {{
        return shim_pmpi.{name}({f.arguments()});
    }}
    MPI_Request request;
    const int code = shim_pmpi.{inner}({args}, &request);
    return code == MPI_SUCCESS ? shim_wait_underneath(&request, {status}) : code;
}}
"""


def holding(name, f):
    before, after = ("const bool held = shim_hold();", "shim_unhold(held);") if f.kind == "hold" else ("shim_progress();", "")
    return f"""
int shim_{name}({f.prototype(False)})
{{
    {before}
    const int code = shim_pmpi.{name}({f.arguments()});
    {after}
    return code;
}}
"""


def wrappers(functions):
    out = [header(), '#include "mpi_shim/shim.h"\n']
    for name, f, large in intercepted(functions):
        if f.kind in ("start", "init"):
            out.append(started(name, f, large))
        if f.kind in ("hold", "tick"):
            out.append(holding(name, f))
        if f.kind in ("wait", "late"):
            out.append(waiting(name, f, large))
        if f.kind != "coll":
            continue
        fast = f"""    const int done = shim_fast_{name}({f.arguments()});
    if (__builtin_expect(done != SHIM_PASS, 1)) {{
        return done;
    }}
""" if f.fast and not large else ""
        out.append(f"""
int shim_{name}({f.prototype(large)})
{{
{fast}    const shim_call_t call = {{
{call_fields(name, f, large)}    }};
    shim_watch_t watch = shim_watch_begin();
    int code = shim_serve_{f.operator}(&call, &watch);
    if (code == SHIM_PASS) {{
        const bool held = shim_hold();
        code = shim_pmpi.{name}({f.arguments()});
        shim_unhold(held);
    }}
    shim_watch_end(&watch, &call);
    return code;
}}
""")
    out.append(start_underneath(functions))
    return "".join(out)


def version_map(functions):
    names = [f"MPI_{name}" for name, _, _ in intercepted(functions)]
    lines = "".join(f"        {n};\n" for n in names)
    return header("# {}") + "{\n    global:\n" + lines + "        dlsym;\n        mpi_shim_*;\n" + ALLOCATION + "    local: *;\n};\n"


def name_list(functions):
    return "".join(f"MPI_{name}\n" for name, _, _ in intercepted(functions))


KIND = {"entry": entry, "table.h": table_h, "table.c": table_c, "wrappers": wrappers, "map": version_map, "list": name_list}


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in KIND:
        sys.exit(__doc__)
    with open(sys.argv[3], "w", encoding="ascii") as out:
        out.write(KIND[sys.argv[2]](read_functions(sys.argv[1])))


if __name__ == "__main__":
    main()
