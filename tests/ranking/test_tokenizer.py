import re
import string
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive_ranking import naive_tokens

from tried.ranking import tokenizer
from tried.ranking.tokenizer import CJK_RANGES, tokenize


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("  \n", []),
        ("MoSHead", ["mo", "s", "head"]),
        ("valF1", ["val", "f1"]),
        ("encoder/layers.0", ["encoder", "layers", "0"]),
        ("filter:ResNet", ["filter", "res", "net"]),
        ("learning_rate=3e-4", ["learning", "rate", "3e", "4"]),
        ("7B 1Bc AB1 ABc1D", ["7", "b", "1", "bc", "ab1", "a", "bc1", "d"]),
        ("HTTPServer2X", ["http", "server2", "x"]),
        ("training trains the", ["training", "trains", "the"]),
        # Letters beyond ASCII follow the same rules.
        ("ÉcoleÉtéΔLoss", ["école", "été", "δ", "loss"]),
        ("ÀÉa", ["à", "éa"]),
        ("straße STRASSE", ["straße", "strasse"]),
        # NFC: an accent written apart is the same letter, and no place to cut.
        ("E\u0301te\u0301", ["été"]),
        # A mark without a composed form stays with its letter and leaves its case in sight.
        ("x\u0302B", ["x\u0302", "b"]),
        ("AX\u0302c", ["a", "x\u0302c"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        # Every kind of number: superscript, Roman numeral, fraction, Arabic digit.
        ("m²B", ["m²", "b"]),
        ("Ⅷ ½ ٣X", ["ⅷ", "½", "٣", "x"]),
        # Lowercased one character at a time: no final sigma, no folding; İ has two characters in lower case.
        ("ΟΔΟΣ", ["οδοσ"]),
        ("İstanbul", ["i\u0307stanbul"]),
        ("ﬁne", ["ﬁne"]),
        # The Kelvin sign is K in NFC, and the Greek question mark a semicolon.
        ("5\u212a a\u037eb", ["5", "k", "a", "b"]),
        # Chinese, Japanese and Korean runs are cut out and give bigrams.
        ("学", ["学"]),
        ("学习率", ["学习", "习率"]),
        ("用AdamW优化第3章", ["用", "adam", "w", "优化", "化第", "3", "章"]),
        ("ハイパーパラメータ", ["ハイ", "イパ", "パー", "ーパ", "パラ", "ラメ", "メー", "ータ"]),
        ("학습률 lr", ["학습", "습률", "lr"]),
        ("学习·率", ["学习", "率"]),
        ("か\u309aき", ["か\u309aき"]),
        ("\U00020000\U00020001a", ["\U00020000\U00020001", "a"]),
        # Separators of every kind, and what is no text at all.
        ("a→b—c\u2028d\u00a0e😀f", ["a", "b", "c", "d", "e", "f"]),
        ("\ud800a\udfffb", ["a", "b"]),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


ascii_texts = st.text(st.sampled_from(string.ascii_letters + string.digits + "_-./ \n\x00\x7f"), max_size=40)


@settings(deadline=None)
@given(ascii_texts)
def test_the_pattern_for_ascii_agrees_with_the_rules_by_character(text: str) -> None:
    runs = re.findall("[0-9A-Za-z]+", text)
    by_character = [term for run in runs for term in tokenizer._terms_of_run(run)]
    assert tokenizer._ascii_terms(text) == by_character == tokenize(text)


@settings(max_examples=400, deadline=None)
@given(
    st.text(max_size=30)
    | st.text(st.sampled_from("aBcDé\u0301\u0331Σ3²Ⅷǅʰ学ー率\u309a\u3099아\u1100カ\ufe0f →İ"), max_size=20)
)
@example("\u0301a\u0301B")
@example("学\u0301習B\u0301")
def test_any_text_gives_the_terms_of_an_independent_tokenizer(text: str) -> None:
    assert tokenize(text) == naive_tokens(text)


def test_the_ranges_are_ascending_and_apart() -> None:
    bounds = [bound for first, last, _ in CJK_RANGES for bound in (first, last)]
    assert bounds == sorted(set(bounds))


@pytest.mark.parametrize("part", ["A", "aB", "a\u0301", "学", "→", "\u0301"])
def test_a_long_text_of_one_kind_takes_linear_time(part: str) -> None:
    """Quadratic work on 300,000 characters would take minutes."""
    text = part * (300_000 // len(part))
    assert sum(map(len, tokenize(text))) <= 2 * len(text)


def test_terms_keep_their_order_and_number() -> None:
    assert Counter(tokenize("lr LR lr_lr")) == {"lr": 4}
    assert tokenize("b a b") == ["b", "a", "b"]
