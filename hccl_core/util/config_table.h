/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * util/config_table.h - the knobs, one row each. Included by config.c alone; others ask hcore_config_knobs.
 * Columns: name, kind with its field (and range), default as a user would write it, what is allowed, help.
 * Where our rule differs from the vendor's, the help says so.
 */
#define HX_KNOB_LIST(X)                                                                                      \
    X(HCCL_OP_EXPANSION_MODE, CHOICE(op_expansion_mode, expansion_word), HX_KNOB_UNSET,                      \
      "AI_CPU, AICPU_CacheDisable, AIV",                                                                     \
      "AI_CPU rules AIV out, AICPU_CacheDisable also plans each call anew, AIV uses AIV up to its sizes and "\
      "AI CPU above. Unset on a host, the matrix and the sizes decide (the vendor's default is AI_CPU).")    \
    X(HCCL_DETERMINISTIC, CHOICE(deterministic, deterministic_word), "false",                                \
      "false, true, strict",                                                                                 \
      "true: only rows of the matrix with deterministic reductions serve them. strict: the order of a "      \
      "reduction also depends on the number of ranks alone, for every type and op (the vendor: sums of "     \
      "fp16, fp32, bf16).")                                                                                  \
    X(HCCL_ALGO, KIND(algo, algo), HX_KNOB_UNSET,                                                            \
      "level0:NA;level1:NAME;level2:NAME (any part of it) or OPER=levels/OPER=levels...; level1 ring, "      \
      "H-D_R, NHR, NHR_V1, NB, AHC, pipeline, pairwise; level2 ring, H-D_R, NHR, NB, pipeline; OPER "        \
      "allgather, reducescatter, allreduce, broadcast, reduce, scatter, alltoall",                           \
      "Algorithms of the AI CPU backend. An algorithm that an operator does not have leaves the choice to "  \
      "the core, as the vendor's does. On one host level1 chooses.")                                         \
    X(HCCL_BUFFSIZE, NUMBER(bytes, buffsize, 1, 65536, MIB), "200",                                          \
      "1..65536 (MB)",                                                                                       \
      "Upper bound of the shared windows of one rank in one communicator; memory is used as it is touched "  \
      "(the vendor takes twice this at once).")                                                              \
    X(HCCL_OP_RETRY_ENABLE, KIND(retry_enable, retry), "L0:0,L1:0,L2:0",                                     \
      "L0:0|1, L1:0|1, L2:0|1, joined by commas",                                                            \
      "Re-execution after a link fault, per level. Where it is on, only rows of the matrix with "            \
      "re-execution serve a call. A level that is not named stays off.")                                     \
    X(HCCL_OP_RETRY_PARAMS, KIND(retry_params, retry_max), "MaxCnt:1,HoldTime:5000,IntervalTime:1000",       \
      "MaxCnt:1..10, HoldTime:0..60000 (ms), IntervalTime:0..60000 (ms), joined by commas",                  \
      "How often an operator is run again, how long after the fault, and how far apart.")                    \
    X(HCCL_CONNECT_TIMEOUT, NUMBER(number, connect_timeout_s, 120, 7200, 1), "120",                          \
      "120..7200 (seconds)",                                                                                 \
      "How long the set-up of a communicator waits for its other ranks.")                                    \
    X(HCCL_EXEC_TIMEOUT, NUMBER(number, exec_timeout_s, 0, INT32_MAX, 1), "0",                               \
      "0..2147483647 (seconds)",                                                                             \
      "How long an operator waits for another rank that lives, 0 for ever (the vendor's default is 1836, "   \
      "1091 with AIV; an MPI program may rightly wait longer).")                                                                                \
    X(MPI_SHIM_DISABLE, KIND(flag, disable), "0", FLAG_WORDS,                                                \
      "1: every call goes to the MPI library underneath, unchanged.")                                        \
    X(MPI_SHIM_STRICT, KIND(flag, strict), "0", FLAG_WORDS,                                                  \
      "1: a value that is not allowed, in any of these variables, ends the program at MPI_Init instead of "  \
      "a message.")                                                                                          \
    X(MPI_SHIM_PROFILE, KIND(text, profile), "host",                                                         \
      "host, atlas-a3, or the path of a matrix file",                                                        \
      "The support matrix that decides which backend serves a call.")                                        \
    X(MPI_SHIM_BACKEND, CHOICE(backend, use_word), "auto",                                                   \
      "auto, aiv, aicpu, mpi",                                                                               \
      "Keeps one backend alone; what it does not support goes to MPI. Stronger than HCCL_OP_EXPANSION_MODE " \
      "unless auto.")                                                                                        \
    X(MPI_SHIM_LOG, LOG(log_level, log_word), "off",                                                         \
      "off, error, warn, info, debug, each optionally followed by :FILE",                                    \
      "What is logged, and where to; to standard error without a file.")                                     \
    X(MPI_SHIM_REPORT, KIND(text, report), HX_KNOB_UNSET, "a path",                                          \
      "Where to write, at MPI_Finalize, which calls ran on which backend and why.")                          \
    X(MPI_SHIM_HEAP, CHOICE(heap, heap_word), "on", "on, off, alloc_mem",                                    \
      "on: large blocks of malloc and its family, and of MPI_Alloc_mem, lie in memory that the other ranks " \
      "of the host can read. alloc_mem: those of MPI_Alloc_mem alone.")                                      \
    X(MPI_SHIM_CMA, CHOICE(cma, cma_word), "auto", "auto, off",                                              \
      "off: never read another process's memory directly (process_vm_readv), copy through shared windows.")  \
    X(MPI_SHIM_YIELD, CHOICE(yield, yield_word), "auto", "auto, on, off",                                    \
      "Whether a rank that waits in a blocking point-to-point call gives up its cpu instead of spinning in "  \
      "the MPI library. auto: where ranks outnumber cpus.")                                                  \
    X(MPI_SHIM_ASYNC, KIND(flag, async), "0", FLAG_WORDS,                                                    \
      "1: a thread moves nonblocking collectives while the program computes. It takes cpu time from the "     \
      "program where no cpu is to spare.")                                                                   \
    X(MPI_SHIM_AIV_LIMIT, SIZES(aiv_limit, AIV_LIMIT_OPERS), HX_KNOB_UNSET, SIZES_ALLOWED(AIV_LIMIT_OPERS),  \
      "Size up to which AIV is preferred to AI CPU, in place of the profile's; bytes as hccl_info explain "  \
      "counts them for the operator. An operator that is not named keeps the profile's.")                    \
    X(MPI_SHIM_HEAP_FROM, SIZES(heap_from, HEAP_FROM_OPERS), HX_KNOB_UNSET, SIZES_ALLOWED(HEAP_FROM_OPERS),  \
      "Bytes from which AIV moves an operator's data directly between shared heaps, where the ranks of the "  \
      "communicator have a cpu each; counted as for MPI_SHIM_AIV_LIMIT, and for GatherV, ScatterV, AlltoAllV " \
      "and AlltoAllW of one message. An operator that is not named keeps the core's.")                       \
    X(MPI_SHIM_CONFIG_FILE, KIND(text, config_file), SYSTEM_FILE, "a path",                                  \
      "File with lines NAME = value for these variables; the environment is stronger. Counts in the "        \
      "environment alone; the default file need not be there.")
