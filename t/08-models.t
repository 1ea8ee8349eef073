#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The lock-free protocols, as models whose every interleaving is searched. Each model also runs with a fault put in, and the search must
# find that: a model that can't fail proves nothing.
. "$(dirname "$0")/lib.sh"
command -v spin >/dev/null || skip_all "spin is not installed"
CC=${CC:-gcc}
command -v "$CC" >/dev/null || skip_all "no C compiler"

# search MODEL FLAGS...: prints "complete, no error", "error", or why the search says neither.
search() {
    local model=$1 dir out
    shift
    dir=$(mktemp -d "$SHIM_TMP/pan.XXXXXX")
    out=$(cd "$dir" && {
        spin "$@" -a "$SHIM_SRC/t/models/$model.pml" &&
            "$CC" -O1 -w -DSAFETY -DNOFAIR -DCOLLAPSE -DMEMLIM=1024 -o pan pan.c &&
            timeout 100 ./pan -m10000
    } 2>&1)
    case $out in
    *"max search depth too small"* | *"out of memory"* | *"reached -DMEMLIM"*) echo "search cut short" ;;
    *"invalid end states"*"errors: 0"*) echo "complete, no error" ;;
    *"invalid end states"*"errors: 1"*) echo "error" ;;
    *) printf 'no result: %s\n' "$out" ;;
    esac
}

holds() { is "$(search "$@")" "complete, no error" "$* holds"; }
fails() { is "$(search "$@")" "error" "$* fails"; }

holds lines -DRANKS=2 -DROUNDS=6
holds lines -DRANKS=3 -DROUNDS=4
fails lines -DNO_CHECK
fails lines -DEARLY_DONE
fails lines -DSAFE_TOO_FAR
fails lines -DEVERY=3
holds sleep
fails sleep -DNO_POSTER_FENCE
fails sleep -DNO_WAITER_FENCE
fails sleep -DLATE_BELL
holds cells
fails cells -DWIDE_WINDOW
fails cells -DNUMBER_FIRST
fails cells -DEARLY_ACK
fails cells -DEVERY=3
holds heap -DRANKS=2 -DROUNDS=5
holds heap -DRANKS=3 -DROUNDS=3
fails heap -DEARLY_LEAVE
fails heap -DONE_PLACE
fails heap -DLATE_PLACE
holds offers
fails offers -DNO_EPOCH
fails offers -DLATE_OFFER
fails offers -DEARLY_CELL
fails offers -DNO_ACK
holds queue
fails queue -DNO_SECOND_LOOK
fails queue -DEARLY_CLEAR
fails queue -DNO_OWNER
done_testing
