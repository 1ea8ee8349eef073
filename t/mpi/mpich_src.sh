# SPDX-License-Identifier: BSD-3-Clause
# t/mpi/mpich_src.sh - the collective tests of the MPICH project, fetched with the distribution's own tools and built
# against the installed library. Sourced by t/90-mpich-coll.t. A function that fails says why in $why.
#
# Sets: tests (folder test/mpi of the source), programs and built (counts).

MPICH_PARTS=(coll util include dtpools)

# Name and version of the source package of the library that our tests are linked with.
mpich_package() {
    local library
    library=$(ldd "$MPI_TESTS/known" | awk '/libmpich/ { print $3; exit }')
    [ -n "$library" ] && library=$(readlink -f "$library") || return 1
    # the file may be known to dpkg under /usr/lib or under /lib
    local owner
    owner=$(dpkg -S "$library" "${library#/usr}" 2>/dev/null | sed -n '1s/:.*//p')
    [ -n "$owner" ] && dpkg-query -W -f '${source:Package} ${source:Version}\n' "$owner" 2>/dev/null | head -n 1
}

# A list of sources of our own: the machine's may lack deb-src lines, and only root may change it.
mpich_download() {
    local package=$1 version=$2 work=$3 mirror codename keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -v c="$codename" '$1 == c { print $2; exit }')
    [ -n "$mirror" ] || return 1
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    echo "deb-src $([ -e $keyring ] && echo "[signed-by=$keyring]") $mirror $codename main" \
        >"$work/sources.list"
    local apt=(timeout 120 apt-get -q -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=)
    (cd "$work" && "${apt[@]}" update && "${apt[@]}" --download-only source "$package=$version") >"$work/log" 2>&1
}

mpich_source_tests() {
    local package version work=$SHIM_TMP/mpich-src archive
    read -r package version < <(mpich_package)
    [ -n "$version" ] || { why="the MPI under test is no Debian package"; return 1; }
    local home=${SHIM_MPICH_SRC:-$SHIM_TMP/mpich}
    tests=$home/$package-$version/test/mpi
    [ -d "$tests/coll" ] && return 0
    command -v apt-get >/dev/null || { why="no apt-get"; return 1; }
    mpich_download "$package" "$version" "$work" || { why="apt-get source $package=$version: $(tail -n 1 "$work/log")"; return 1; }
    archive=$(find "$work" -maxdepth 1 -name '*.orig.tar.*' ! -name '*.asc' | head -n 1)
    mkdir -p "$home/$package-$version" "$work/unpacked"
    tar -xf "$archive" -C "$work/unpacked" --strip-components=1 --wildcards "${MPICH_PARTS[@]/#/*/test/mpi/}" 2>>"$work/log"
    [ -d "$work/unpacked/test/mpi/coll" ] || { why="no test/mpi/coll in ${archive##*/}"; return 1; }
    mv "$work/unpacked/test" "$home/$package-$version/test"
}

# What MPICH's configure would find on any machine of today; a run of it takes longer than all the tests.
mpich_config() {
    local name
    for name in STDC_HEADERS HAVE_STDARG_H HAVE_STDINT_H HAVE_STDLIB_H HAVE_STRING_H HAVE_STRINGS_H HAVE_INTTYPES_H HAVE_UNISTD_H \
        HAVE_SYS_TIME_H HAVE_SYS_TYPES_H HAVE_SYS_STAT_H HAVE_SYS_RESOURCE_H HAVE_LIMITS_H HAVE_GETRUSAGE HAVE_USLEEP HAVE_STRDUP \
        HAVE_MEMSET HAVE_LONG_LONG HAVE_LONG_DOUBLE HAVE__BOOL HAVE_FLOAT__COMPLEX HAVE_DOUBLE__COMPLEX \
        HAVE_LONG_DOUBLE__COMPLEX HAVE_MPI_WIN_CREATE; do
        echo "#define $name 1"
    done
    echo "#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX"
}

# The names in the test list, with their number of ranks and words "arg=...". What needs 20 GB is left out, as by default.
mpich_test_list() {
    sed 's/#.*//' "$tests/coll/testlist.in" | grep -v '@' | awk 'NF >= 2'
}

# The source file and flags of a program: those of automake, whose makefile says "NAME_SOURCES = x.c", "NAME_CPPFLAGS = -DY".
mpich_build_one() {
    local name=$1 source flags
    source=$(sed -n "s/^${name}_SOURCES *= *//p" "$tests/coll/Makefile.am" | awk '{ print $1 }')
    flags=$(sed -n "s/^${name}_CPPFLAGS *= *//p" "$tests/coll/Makefile.am" | tr ' ' '\n' | grep '^-D' | tr '\n' ' ')
    # shellcheck disable=SC2086
    "$MPICC" -w -O1 "${MPICH_INCLUDE[@]}" $flags -o "$tests/coll/$name" "$tests/coll/${source:-$name.c}" \
        "$tests"/util/*.shim.o -lm -lpthread >"$tests/coll/$name.log" 2>&1
}

mpich_build_tests() {
    local file name running=0
    MPICH_INCLUDE=(-I"$tests/include" -I"$tests/dtpools/include" -DHAVE_CONFIG_H)
    MPICC=${MPICC:-mpicc.mpich}
    mpich_config >"$tests/include/mpitestconf.h"
    mpich_config >"$tests/dtpools/dtpoolsconf.h"
    for file in "$tests"/util/mtest.c "$tests"/util/mtest_common.c "$tests"/util/mtest_single.c "$tests"/util/dtypes.c \
        "$tests"/dtpools/src/*.c; do
        name=$tests/util/$(basename "$file" .c).shim.o
        [ -e "$name" ] || "$MPICC" -w -O1 "${MPICH_INCLUDE[@]}" -c -o "$name" "$file" >"$name.log" 2>&1 ||
            { why="$file does not compile: $(grep -m 1 error "$name.log")"; return 1; }
    done
    programs=0 built=0
    for name in $(mpich_test_list | awk '{ print $1 }' | sort -u); do
        programs=$((programs + 1))
        [ -x "$tests/coll/$name" ] || mpich_build_one "$name" &
        running=$((running + 1))
        [ $((running % 2)) -eq 0 ] && wait
    done
    wait
    for name in $(mpich_test_list | awk '{ print $1 }' | sort -u); do
        if [ -x "$tests/coll/$name" ]; then built=$((built + 1)); else note "$name does not build"; fi
    done
}
