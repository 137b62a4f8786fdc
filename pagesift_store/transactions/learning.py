"""What a page teaches: relevance, terms, the link model, harvest, stop rules, new scores (DESIGN 5, steps 5 to 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagesift_store.focus.order import LANE_WEIGHT, Harvest, Yield, lift
from pagesift_store.focus.relevance import EVIDENCE_FROM, IRRELEVANT_BELOW, SiteStatistics, relevance
from pagesift_store.focus.stop import PageFacts, is_hit
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import pages as pages_sql
from pagesift_store.transactions import aside, ending
from pagesift_store.transactions.learned import save_model, save_pairs, save_terms
from pagesift_store.transactions.scoring import drifted, rescore

if TYPE_CHECKING:
    from pagesift_store.transactions.observing import Outcome
    from pagesift_store.transactions.work import Work


def learn(work: Work, outcome: Outcome) -> None:
    """Steps 5 to 9 of one observation."""
    _judge(work, outcome)
    if outcome.row.visits or outcome.landing.outside or outcome.page.noindex:
        return  # a link counts once, and what is not of this crawl counts for nothing
    outcome.counted = True
    tokens, new_tokens, masks = _passages(work, outcome)
    outcome.hit = _is_hit(outcome, tokens, new_tokens)
    if outcome.repeat.first_seen:
        _learn_terms(work, outcome, masks)
    changed = outcome.repeat.first_seen and _learn_link(work, outcome)
    _count(work, outcome, new_tokens)
    if changed or drifted(work):
        outcome.rescored = rescore(work)
    else:
        save_terms(work)


def site_statistics(work: Work) -> SiteStatistics:
    """The statistics of the terms as they stand."""
    memory, ranked = work.memory, 16
    return SiteStatistics(
        pages=work.crawl.texts,
        words=work.crawl.words,
        df=tuple(row.df for row in memory.term_rows[:ranked]),
        counts=tuple(row.occurrences for row in memory.term_rows[:ranked]),
        pair_df=tuple(row.df for row in memory.pair_rows[: ranked - 1]),
        pair_counts=tuple(row.occurrences for row in memory.pair_rows[: ranked - 1]),
    )


def _judge(work: Work, outcome: Outcome) -> None:
    """The caller's relevance, or ours by the statistics before this page."""
    given = outcome.page.relevance
    outcome.relevance = (
        float(given)
        if given is not None
        else relevance(outcome.analysis.evidence, site_statistics(work), work.settings.delta)
    )


def _passages(work: Work, outcome: Outcome) -> tuple[int, int, list[int]]:
    """Relevant tokens of the page, those in passages not seen before, and the masks of these passages."""
    found = outcome.analysis.passages
    if not found:
        return 0, 0, []
    hashes = [passage.hash for passage in found]
    known = {row.hash for row in work.rows_in(pages_sql.known_passages, pages_sql.HASHES, hashes)}
    new = [passage for passage in found if passage.hash not in known]
    work.run_many(pages_sql.add_passages(), [{"hash": passage.hash} for passage in new])
    tokens = sum(passage.tokens for passage in found)
    return tokens, sum(passage.tokens for passage in new), [passage.mask for passage in new]


def _is_hit(outcome: Outcome, tokens: int, new_tokens: int) -> bool:
    if outcome.page.new is not None:
        return outcome.page.new and outcome.relevance >= EVIDENCE_FROM
    return is_hit(outcome.relevance, not outcome.repeat.first_seen, tokens, new_tokens)


def _learn_terms(work: Work, outcome: Outcome, masks: list[int]) -> None:
    evidence, mask = outcome.analysis.evidence, outcome.analysis.mask
    work.crawl.texts += 1
    work.crawl.words += evidence.words
    for bit, row in enumerate(work.memory.term_rows):
        row.df += (mask >> bit) & 1
        if bit < len(evidence.counts):
            row.occurrences += evidence.counts[bit]
        passages = sum((found >> bit) & 1 for found in masks)
        row.passages += passages
        row.evidence_pages += passages > 0
    if any(evidence.pairs):
        for pair, count in zip(work.memory.pair_rows, evidence.pairs, strict=False):
            pair.df += count > 0
            pair.occurrences += count
        save_pairs(work)


def _learn_link(work: Work, outcome: Outcome) -> bool:
    """The link model takes the link as it was scored; returns whether a weight in use changed."""
    row, memory = outcome.row, work.memory
    if row.given or row.seed or not work.settings.learn or not memory.terms.words:
        return False
    features = [
        memory.covers[row.anchor_hits],
        memory.covers[row.url_hits],
        memory.covers[row.context_hits],
        row.parent_relevance,
        float(row.phrase),
    ]
    memory.posterior, changed = memory.posterior.updated(
        features, outcome.relevance >= IRRELEVANT_BELOW, work.settings.delta
    )
    save_model(work)
    return changed


def _count(work: Work, outcome: Outcome, new_tokens: int) -> None:
    """Stop rules and harvest take the page in."""
    crawl, row = work.crawl, outcome.row
    traced = bool(row.seed or row.given or row.anchor_hits | row.url_hits | row.context_hits)
    fresh = new_tokens if outcome.repeat.first_seen else 0
    crawl.stop_state = (
        ending.stop_state(work.memory)
        .after(PageFacts(outcome.relevance, fresh, traced), work.settings.min_gain)
        .to_json()
    )
    crawl.pages += 1
    crawl.hits += outcome.hit
    crawl.relevant += outcome.relevance >= EVIDENCE_FROM
    crawl.relevance += outcome.relevance
    work.run_many(
        lanes_sql.count_harvest(),
        [{"the_part": part, "hit": int(outcome.hit)} for part in (row.subtree_id, row.cluster_id)],
    )
    before = Harvest(row.cluster_pages, row.cluster_hits)
    if outcome.hit and not before.hits:
        aside.mark_spent(work, [row.cluster_id], spent=False)
    if outcome.hit and row.dry:
        work.memory.dry = None
    work.memory.harvested(row.cluster_id, before, Harvest(before.pages + 1, before.hits + int(outcome.hit)))
    lifted = lift(
        Yield(row.lane_pages + 1, row.lane_relevance + outcome.relevance),
        Yield(crawl.pages, crawl.relevance),
        weight=LANE_WEIGHT if work.settings.focus == "full" else 0.0,
    )
    work.run(lanes_sql.count_page(), the_lane=row.lane_id, the_relevance=outcome.relevance, lift=lifted)
