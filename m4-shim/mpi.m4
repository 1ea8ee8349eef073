dnl SPDX-License-Identifier: BSD-3-Clause
dnl SHIM_FIND_MPICH: finds an MPI of the MPICH ABI. Only its header is used to build; nothing links to it.
dnl Sets MPICH_CC (compiler wrapper, for the tests), MPICH_EXEC (launcher) and MPICH_CPPFLAGS.
AC_DEFUN([SHIM_FIND_MPICH], [
  AC_MSG_CHECKING([for a compiler wrapper of an MPI with the MPICH ABI])
  MPICH_CC=
  AS_CASE([$with_mpi],
    [no], [AC_MSG_ERROR([the shim needs an mpi.h of the MPICH ABI; --without-mpi is not possible])],
    [yes], [shim_candidates="mpicc.mpich mpicc"],
    [AS_IF([test -d "$with_mpi"],
       [shim_candidates="$with_mpi/bin/mpicc.mpich $with_mpi/bin/mpicc"],
       [shim_candidates="$with_mpi"])])
  for shim_cc in $shim_candidates; do
    AS_IF([$shim_cc -show >/dev/null 2>&1 && echo '#include <mpi.h>' | $shim_cc -E -dM -x c - 2>/dev/null | grep -q 'define MPICH_VERSION\|define I_MPI_VERSION\|define MVAPICH2\?_VERSION'],
      [MPICH_CC=$shim_cc; break])
  done
  AS_IF([test -z "$MPICH_CC"], [AC_MSG_RESULT([none])
    AC_MSG_ERROR([no MPI of the MPICH ABI found (tried: $shim_candidates). Debian: apt-get install libmpich-dev mpich])])
  AC_MSG_RESULT([$MPICH_CC])
  MPICH_CPPFLAGS=
  for shim_word in `$MPICH_CC -show`; do
    AS_CASE([$shim_word], [-I*], [MPICH_CPPFLAGS="$MPICH_CPPFLAGS $shim_word"])
  done
  AS_CASE([$MPICH_CC],
    [*mpicc.mpich], [MPICH_EXEC=`echo $MPICH_CC | sed 's/mpicc.mpich$/mpiexec.mpich/'`],
    [MPICH_EXEC=`echo $MPICH_CC | sed 's/mpicc$/mpiexec/'`])
  AC_SUBST([MPICH_CC])
  AC_SUBST([MPICH_EXEC])
  AC_SUBST([MPICH_CPPFLAGS])
])

dnl SHIM_FIND_OPENMPI: finds Open MPI, which a library of its own and shim_bench are built for. Optional. As above, only its header is used
dnl to build the library.
dnl Sets OPENMPI_CC (compiler wrapper; empty: none), OPENMPI_EXEC (launcher) and OPENMPI_CPPFLAGS.
AC_DEFUN([SHIM_FIND_OPENMPI], [
  AC_MSG_CHECKING([for a compiler wrapper of Open MPI])
  OPENMPI_CC=
  AS_CASE([$with_openmpi],
    [no], [shim_candidates=],
    [check|yes], [shim_candidates="mpicc.openmpi mpicc"],
    [AS_IF([test -d "$with_openmpi"],
       [shim_candidates="$with_openmpi/bin/mpicc.openmpi $with_openmpi/bin/mpicc"],
       [shim_candidates="$with_openmpi"])])
  for shim_cc in $shim_candidates; do
    AS_IF([echo '#include <mpi.h>' | $shim_cc -E -dM -x c - 2>/dev/null | grep -q 'define OMPI_MAJOR_VERSION'],
      [OPENMPI_CC=$shim_cc; break])
  done
  AS_IF([test -n "$OPENMPI_CC"], [AC_MSG_RESULT([$OPENMPI_CC])], [AC_MSG_RESULT([none])])
  AS_CASE([$with_openmpi:$OPENMPI_CC],
    [check:*|no:*|*:?*], [],
    [AC_MSG_ERROR([--with-openmpi: no Open MPI found (tried: $shim_candidates). Debian: apt-get install libopenmpi-dev openmpi-bin])])
  OPENMPI_CPPFLAGS=
  AS_IF([test -n "$OPENMPI_CC"], [
    for shim_word in `$OPENMPI_CC -show`; do
      AS_CASE([$shim_word], [-I*], [OPENMPI_CPPFLAGS="$OPENMPI_CPPFLAGS $shim_word"])
    done])
  OPENMPI_EXEC=`echo $OPENMPI_CC | sed 's/mpicc\(.openmpi\)\{0,1\}$/mpirun\1/'`
  AC_SUBST([OPENMPI_CC])
  AC_SUBST([OPENMPI_EXEC])
  AC_SUBST([OPENMPI_CPPFLAGS])
  AM_CONDITIONAL([OPENMPI], [test -n "$OPENMPI_CC"])
])
