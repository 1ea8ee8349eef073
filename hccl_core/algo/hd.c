/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/hd.c - H-D_R, recursive halving and doubling.
 *
 * The number of ranks need not be a power of two: of the first 2 * extra ranks, each odd one joins the even
 * one before it, which leaves a power of two of "players". In step k a player's partner is the one whose
 * number differs in bit k. Since the lowest bit comes first, what has been combined is always a run of
 * neighbouring ranks: the order of operands is rank order, as a tree.
 *
 * Slices belong to the player that their rank is or has joined. A player keeps, of each step's slices, those
 * whose player agrees with it in bit k, and never writes again those that it gives away, until they come back
 * complete, which their reader has a part in.
 */
#include "algo/families.h"
#include "algo/flow.h"
#include "algo/steps.h"

typedef struct {
    uint32_t bits;   /* log2 of the number of players */
    uint32_t extra;  /* ranks that have joined another */
    uint32_t player; /* mine, or the one I have joined */
    bool joined;
} party_t;

static uint32_t player_of(uint32_t extra, uint32_t rank)
{
    return rank < 2 * extra ? rank / 2 : rank - extra;
}

static uint32_t rank_of(const party_t *party, uint32_t player)
{
    return player < party->extra ? 2 * player : player + party->extra;
}

static party_t party_for(const hx_shape_t *shape)
{
    party_t party = {0};
    while ((shape->nranks >> party.bits) > 1) {
        party.bits++;
    }
    party.extra = shape->nranks - (UINT32_C(1) << party.bits);
    party.player = player_of(party.extra, shape->rank);
    party.joined = shape->rank < 2 * party.extra && shape->rank % 2 == 1;
    return party;
}

static bool has_joiner(const party_t *party)
{
    return !party->joined && party->player < party->extra;
}

static uint32_t partner_at(const party_t *party, uint32_t bit)
{
    return rank_of(party, party->player ^ (UINT32_C(1) << bit));
}

/* Slices whose player agrees with `player` in the bits below `bits`. */
static bool agrees(const party_t *party, uint32_t slice, uint32_t player, uint32_t bits)
{
    uint32_t mask = (UINT32_C(1) << bits) - 1;
    return ((player_of(party->extra, slice) ^ player) & mask) == 0;
}

/* Ranks that have joined give their contributions away. */
static void join(hx_steps_t *s, const party_t *party)
{
    uint32_t me = s->shape->rank;
    if (party->joined) {
        for (uint32_t slice = 0; slice < s->shape->nranks; slice++) {
            hx_steps_put(s, slice);
        }
        hx_steps_post(s, me - 1);
    } else if (has_joiner(party)) {
        hx_steps_wait(s, me + 1);
        for (uint32_t slice = 0; slice < s->shape->nranks; slice++) {
            hx_steps_combine(s, me + 1, slice, false);
        }
    }
}

static void halving_step(hx_steps_t *s, const party_t *party, uint32_t bit, bool in_window)
{
    uint32_t partner = partner_at(party, bit), other = party->player ^ (UINT32_C(1) << bit);
    for (uint32_t slice = 0; slice < s->shape->nranks && !in_window; slice++) {
        if (agrees(party, slice, other, bit + 1)) {
            hx_steps_put(s, slice);
        }
    }
    hx_steps_post(s, partner);
    hx_steps_wait(s, partner);
    for (uint32_t slice = 0; slice < s->shape->nranks; slice++) {
        if (agrees(party, slice, party->player, bit + 1)) {
            hx_steps_combine(s, partner, slice, in_window);
        }
    }
}

static void halve(hx_steps_t *s, const party_t *party)
{
    join(s, party);
    for (uint32_t bit = 0; bit < party->bits && !party->joined; bit++) {
        halving_step(s, party, bit, bit > 0 || has_joiner(party));
    }
}

static void doubling_step(hx_steps_t *s, const party_t *party, uint32_t bit)
{
    uint32_t partner = partner_at(party, bit), other = party->player ^ (UINT32_C(1) << bit);
    hx_steps_post(s, partner);
    hx_steps_wait(s, partner);
    for (uint32_t slice = 0; slice < s->shape->nranks; slice++) {
        if (agrees(party, slice, other, bit + 1)) {
            hx_steps_fetch(s, partner, slice);
        }
    }
}

/* The player hands the rank that has joined it slices: its own, the others, or both. */
static void give_to_joiner(hx_steps_t *s, const party_t *party, bool own, bool others)
{
    uint32_t me = s->shape->rank;
    if (has_joiner(party)) {
        hx_steps_post(s, me + 1);
    } else if (party->joined) {
        hx_steps_wait(s, me - 1);
        for (uint32_t slice = 0; slice < s->shape->nranks; slice++) {
            if (slice == me ? own : others) {
                hx_steps_fetch(s, me - 1, slice);
            }
        }
    }
}

static void double_up(hx_steps_t *s, const party_t *party, bool joiner_has_own)
{
    for (uint32_t bit = party->bits; bit-- > 0 && !party->joined;) {
        doubling_step(s, party, bit);
    }
    give_to_joiner(s, party, !joiner_has_own, true);
}

static void reduce_scatter(hx_steps_t *s)
{
    party_t party = party_for(s->shape);
    halve(s, &party);
    give_to_joiner(s, &party, true, false);
}

static void all_gather(hx_steps_t *s)
{
    party_t party = party_for(s->shape);
    uint32_t me = s->shape->rank;
    if (party.joined) {
        hx_steps_post(s, me - 1);
    } else if (has_joiner(&party)) {
        hx_steps_wait(s, me + 1);
        hx_steps_fetch(s, me + 1, me + 1);
    }
    double_up(s, &party, true);
}

static void all_reduce(hx_steps_t *s)
{
    party_t party = party_for(s->shape);
    halve(s, &party);
    double_up(s, &party, false);
}

static const hx_family_t hd = {reduce_scatter, all_gather, all_reduce};

void hx_hd_all_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_all_reduce(shape, x, &hd);
}

void hx_hd_reduce_scatter(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_reduce_scatter(shape, x, &hd);
}

void hx_hd_all_gather(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_all_gather(shape, x, &hd);
}

void hx_hd_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_reduce(shape, x, &hd);
}

/* A binomial tree: with data that all want, doubling alone is enough. */
void hx_hd_broadcast(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_flow_broadcast(shape, x, false);
}

void hx_hd_barrier(const hx_shape_t *shape, hx_expansion_t *x)
{
    party_t party = party_for(shape);
    if (party.joined) {
        hx_sync(x, HX_POST, shape->rank - 1);
        hx_sync(x, HX_WAIT, shape->rank - 1);
        return;
    }
    if (has_joiner(&party)) {
        hx_sync(x, HX_WAIT, shape->rank + 1);
    }
    for (uint32_t bit = 0; bit < party.bits; bit++) {
        hx_sync(x, HX_POST, partner_at(&party, bit));
        hx_sync(x, HX_WAIT, partner_at(&party, bit));
    }
    if (has_joiner(&party)) {
        hx_sync(x, HX_POST, shape->rank + 1);
    }
}
