"""The records that a config names, with their places: for links and for going to them."""

from __future__ import annotations

import asyncio

from tried.draft.syntax import parse
from tried.lsp.open_document import Analysed
from tried.lsp.session import LARGE_CHARACTERS, Session
from tried.related.record_ids import NamedRecord, names_any, record_ids, records_named


async def named_records(session: Session, known: Analysed) -> list[NamedRecord]:
    """In the order of the text; none in what is no config."""
    if known.analysis is None or not known.analysis.is_config or not len(known.snapshot):
        return []
    threads = session.large_analysts if len(known.text.content) >= LARGE_CHARACTERS else session.errands
    return await asyncio.get_running_loop().run_in_executor(threads, _named, known)


def _named(known: Analysed) -> list[NamedRecord]:
    """The text is read once more only where any word of it may be an id: in most there is none."""
    text, ids = known.text.content, record_ids(known.snapshot)
    language = known.analysis.language if known.analysis is not None else None
    if language is None or not names_any(text, ids):
        return []
    parsed = parse(text, language)
    return records_named(text, parsed.entries, parsed.comments, ids)
