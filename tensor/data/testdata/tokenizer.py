"""Writes tokenizer.json: vocabularies, and what the package tokenizers makes of awkward
texts with them. Run: python3 tokenizer.py > tokenizer.json

Made with tokenizers 0.23.3, in the form of transformers' BertTokenizerFast."""

import hashlib
import json
import random
import tokenizers
from tokenizers import BertWordPieceTokenizer, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.trainers import WordPieceTrainer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

texts = [
    "", " ", "\t\n\r", "hello", "Hello, World!", "  leading and trailing  ", "don't stop", "I'm can't won't", "U.S.A.",
    "e-mail: a.b@c.de", "http://example.org/?q=1&r=2#x", "#hashtag @user RT: soooo goooood!!!1", "100,000.50 $ and 3€", "½ ¼ ² x³",
    "naïve café résumé", "CAFÉ NAÏVE", "cafe\u0301", "Ångström Å A\u030a", "İstanbul ıssız", "Straße GROẞ", "ΑΒΓ Σίσυφος ΣΊΣΥΦΟΣ",
    "Привет, мир! Ёлка й", "שָׁלוֹם", "السَّلَامُ عَلَيْكُمْ", "नमस्ते दुनिया", "สวัสดีชาวโลก", "안녕하세요 세계", "こんにちは世界", "ガギグ が ｶﾞ",
    "中文字符测试", "mixed中文and英文", "𠀀𠀁 㐀 豈", "\U0002b820\U0002b920\U0002ceb0", "😀😃 emoji 👩‍👩‍👧 ❤️", "🇩🇪 flags", "a\u200bb zero\u200dwidth\ufeffbom",
    "soft\u00adhyphen", "nb\u00a0sp thin\u2009sp ideo\u3000sp", "line\u2028sep para\u2029sep", "ctrl\x00\x01\x7f\x85chars", "\ufffdreplacement", "private\ue000use",
    "“quotes” ‘single’ «guillemets»", "em—dash en–dash …", "a_b__c", "tilde~ caret^ back`tick |pipe| <tag>", "+=%$", "ﬁ ligature ﬀ Ǆ ǅ",
    "[CLS] in the text [SEP]", "[MASK]", "a[MASK]b", "[mask] [ MASK ]", "[UNK] [PAD]", "[CLS][SEP]", "##ing ing ##", "x" * 100, "x" * 101, "é" * 100, "e\u0301" * 60,
    "ab" * 49 + " " + "ab" * 51, "a" * 300, "1" * 101 + " ok", "word " * 40, "...!!!???", "a.b.c.d", "。，、！", "¿Qué? ¡Sí!", "ºª", "Ⅷ ⅷ ①", "H₂O CO₂",
    "Zürich ZÜRICH zu\u0308rich", "Việt Nam", "ñandú Ñ", "œuvre ŒUVRE", "þórr Ðð", "Ł ł Ø ø Đ đ", "ǆ", "\u0130\u0131", "ς σ Σ", "ﷺ", "\u0345", "a\u0300\u0301\u0302b", "\u0301start",
    "tab\tseparated\tvalues", "new\nline", "carriage\rreturn", "vertical\x0btab form\x0cfeed", "\u180e\u2060", "\u061c", "a\u0591b", "Hello\u0301World",
    "the quick brown fox jumps over the lazy dog", "The Quick Brown Fox", "unaffable unwanted running runner ran",
    "i love this phone, best purchase ever :)", "worst. service. EVER!!! never again >:(", "@airline thanks for the gr8 flight <3 #happy",
]

BLOCKS = [(0x20, 0x7e), (0xa0, 0x17f), (0x180, 0x24f), (0x300, 0x33f), (0x370, 0x3ff), (0x400, 0x47f), (0x5d0, 0x5ea), (0x621, 0x64a), (0x905, 0x939), (0xe01, 0xe30),
          (0x1e00, 0x1eff), (0x2000, 0x206f), (0x20a0, 0x20bf), (0x2100, 0x214f), (0x2190, 0x21ff), (0x3040, 0x30ff), (0x4e00, 0x4e40), (0xac00, 0xac40), (0xff01, 0xff5e), (0x1f600, 0x1f640)]
rng = random.Random(1)
for i in range(300):
    words = []
    for _ in range(rng.randint(1, 7)):
        lo, hi = BLOCKS[0] if rng.random() < 0.4 else rng.choice(BLOCKS)
        words.append("".join(chr(rng.randint(lo, hi)) for _ in range(rng.randint(1, 6))))
    texts.append(rng.choice([" ", "", "  "]).join(words))


def vocabulary(lower):
    t = Tokenizer(WordPiece(unk_token="[UNK]"))
    t.normalizer = BertNormalizer(lowercase=lower)
    t.pre_tokenizer = BertPreTokenizer()
    # Some characters stay unknown: the alphabet is limited.
    trainer = WordPieceTrainer(vocab_size=900, special_tokens=SPECIALS, limit_alphabet=350, show_progress=False)
    t.train_from_iterator([x for x in texts for _ in range(2)] + texts[-20:] * 3, trainer)
    ids = t.get_vocab()
    return sorted(ids, key=ids.get)


def encoded(e):
    return {"tokens": e.tokens, "ids": e.ids, "types": e.type_ids, "mask": e.attention_mask}


out = {"tokenizers": tokenizers.__version__, "texts": texts}
for name, lower in (("uncased", True), ("cased", False)):
    vocab = vocabulary(lower)
    t = BertWordPieceTokenizer({token: i for i, token in enumerate(vocab)}, lowercase=lower)
    case = {"vocabulary": vocab, "tokens": [t.encode(x, add_special_tokens=False).ids for x in texts]}
    case["decoded"] = [t.decode(ids) for ids in case["tokens"]]
    pairs = []
    for i in range(0, 120, 3):
        a, b = texts[i], texts[i + 1]
        for most in (0, 3, 4, 8, 9, 17):
            t.no_truncation()
            if most:
                t.enable_truncation(most)
            pairs.append({"first": i, "second": i + 1, "most": most, "one": encoded(t.encode(a)), "two": encoded(t.encode(a, b))})
    case["pairs"] = pairs if lower else pairs[:30]
    t.no_truncation()
    t.enable_padding()
    case["batch"] = [encoded(e) for e in t.encode_batch(texts[3:12])]
    out[name] = case

# What the words of "a", a character and "b" are, for all characters below 0x30000: a
# hash for each 256 of them.
out["blocks"] = {}
for name, lower in (("uncased", True), ("cased", False)):
    normalizer, words = BertNormalizer(lowercase=lower), BertPreTokenizer()
    hashes = []
    for block in range(0x300):
        h = hashlib.sha256()
        for c in range(256 * block, 256 * block + 256):
            if not 0xd800 <= c < 0xe000:
                for w, _ in words.pre_tokenize_str(normalizer.normalize_str("a" + chr(c) + "b")):
                    h.update(w.encode() + b"\n")
        hashes.append(h.hexdigest()[:8])
    out["blocks"][name] = hashes
print(json.dumps(out, ensure_ascii=False, separators=(",", ":")))
