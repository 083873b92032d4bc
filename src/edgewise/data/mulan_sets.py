"""The multi-label sets known by name: what they are, their files and checksums.

Each comes in two parts, for training and for testing, which are loaded one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from edgewise.data.dataset import DataFile, Dataset

GITHUB = "https://raw.githubusercontent.com"
MULAN = f"{GITHUB}/tsoumakas/mulan/master/data/multi-label"
JUNG = f"{GITHUB}/YoungHJung/OnlineMLRBoostingWithVFDT/master/data"
MULAN_CITATION = "Tsoumakas et al., Mulan: A Java Library for Multi-Label Learning, JMLR 12, 2011"


def _mulan_files(name: str, train: tuple[str, str], test: tuple[str, str], xml: str) -> tuple[DataFile, ...]:
    """The two parts, with the checksums of the packed and of the plain file, and the names of the labels."""
    return (
        DataFile(f"{name}-train.arff.xz", *train, f"{MULAN}/{name}/{name}-train.arff"),
        DataFile(f"{name}-test.arff.xz", *test, f"{MULAN}/{name}/{name}-test.arff"),
        DataFile(f"{name}.xml", xml, xml, f"{MULAN}/{name}/{name}.xml"),
    )


def _multi_label(
    name: str,
    title: str,
    features: int,
    part_rows: tuple[int, int],
    counts: Mapping[str, int],
    files: tuple[DataFile, ...],
    source: str,
    citation: str,
) -> Dataset:
    return Dataset(
        name,
        title,
        features,
        counts,
        files,
        source,
        f"{citation}; {MULAN_CITATION}",
        train_rows=part_rows[0],
        labels=tuple(counts),
        total_rows=sum(part_rows),
    )


PARTS = "MULAN; the training part, then the test part"

EMOTIONS = _multi_label(
    "emotions",
    "Emotions that music evokes, multi-label",
    72,
    (391, 202),
    {
        "amazed-suprised": 173, "happy-pleased": 166, "relaxing-calm": 264,
        "quiet-still": 148, "sad-lonely": 168, "angry-aggresive": 189,
    },
    _mulan_files(
        "emotions",
        (
            "51745e816f1ef1213ae6f274f497de5387eb6907ccf879b3e588362addc3a228",
            "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98",
        ),
        (
            "5d2cb7fb763ad56e218d5dbbe34e516dafb47aed5ae98d7da7ae8907bd8f7aa8",
            "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f",
        ),
        "b20042828c32a6ca0a871c10a298c1b7b17fd2c453e944c1673d9e9b9bda1e68",
    ),
    PARTS,
    "Trohidis et al., Multi-label classification of music into emotions, ISMIR 2008",
)  # fmt: skip

SCENE = _multi_label(
    "scene",
    "Scenes in photographs, multi-label",
    294,
    (1211, 1196),
    {"Beach": 427, "Sunset": 364, "FallFoliage": 397, "Field": 433, "Mountain": 533, "Urban": 431},
    _mulan_files(
        "scene",
        (
            "2f8dcabe63818033f58b1e74640f8ce24685c3ae231a755ccffb08f329e96196",
            "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d",
        ),
        (
            "396edfe356a3362f18e56f3c526489dc60db1c1f7ea1630baea7be7ccc06acc5",
            "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42",
        ),
        "9de52ca3d3368a831f574de365b94d55679d8d7e35496d13b353983e7d8ad576",
    ),
    PARTS,
    "Boutell et al., Learning multi-label scene classification, Pattern Recognition 37(9), 2004",
)

YEAST = _multi_label(
    "yeast",
    "Functions of yeast genes, multi-label",
    103,
    (1500, 917),
    {f"Class{number}": rows for number, rows in enumerate(
        (762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34), 1
    )},
    _mulan_files(
        "yeast",
        (
            "4289eb960e6282b4f2d2b5833641f155d61cdf880d3087b75bbc8363623f24d0",
            "e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd",
        ),
        (
            "83ff2eaa71459640cf50d24b233554af04d6b21de2e17c7e22c007afdbe1ea92",
            "4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a",
        ),
        "45fc49ccfd0e1a45788924f40577ac4c5b1b2cb12748b0f03339ed8cdeb9bf1d",
    ),
    PARTS,
    "Elisseeff and Weston, A kernel method for multi-labelled classification, NIPS 2001",
)  # fmt: skip

MEDIAMILL_XML = "398a38599da3f390f4247e08c81c283817875d06a8278b10db3b514855e837dd"
MEDIAMILL_CITATION = "Snoek et al., The challenge problem for automated detection of 101 semantic concepts, ACM MM 2006"
UNPACK = "it is in mediamill.rar of http://mulan.sourceforge.net/datasets-mlc.html, which Python can not unpack"
MEDIAMILL = Dataset(
    "mediamill",
    "Concepts in news video, multi-label",
    120,
    {},
    (
        DataFile("mediamill-train.arff", by_hand=UNPACK),
        DataFile("mediamill-test.arff", by_hand=UNPACK),
        DataFile("mediamill.xml", MEDIAMILL_XML, MEDIAMILL_XML, f"{JUNG}/mediamill/mediamill.xml"),
    ),
    f"{PARTS}; the checksums of the two are not known here. Some rows have no relevant label",
    f"{MEDIAMILL_CITATION}; {MULAN_CITATION}",
    train_rows=30993,
    labels=tuple(f"Class{number}" for number in range(1, 102)),
    total_rows=30993 + 12914,
)

MEDIAMILL_REDUCED = _multi_label(
    "mediamill_reduced",
    "Concepts in news video, the sample m-reduced of Jung and Tewari 2018, multi-label",
    120,
    (1500, 500),
    {f"Class{number}": rows for number, rows in enumerate((
        13, 3, 89, 22, 17, 2, 8, 0, 5, 6, 11, 148, 12, 20, 2, 2, 97, 3, 18, 12, 1, 15, 50, 6, 274, 5, 21, 7, 2, 5, 0,
        327, 12, 1277, 64, 10, 7, 18, 12, 13, 8, 8, 4, 188, 54, 12, 0, 1, 1, 6, 6, 377, 5, 5, 103, 23, 102, 106, 48, 2,
        34, 22, 9, 3, 29, 723, 703, 1542, 50, 25, 2, 5, 0, 3, 3, 155, 34, 3, 223, 21, 9, 30, 12, 80, 250, 3, 13, 1, 14,
        4, 15, 16, 27, 237, 84, 153, 180, 325, 50, 0, 21,
    ), 1)},
    (
        DataFile(
            "mediamill_reduced-train.arff.xz",
            "51a288d8bc1510a338042bca8be8f2295a8e45e9c877f63371b3f5a61c3269a8",
            "f4a562d2b78f5daedeafabc0747542ed2e4d5fd0bb20d348c53d63cc3a0b1e7c",
            f"{JUNG}/mediamill_reduced/mediamill-train.arff",
        ),
        DataFile(
            "mediamill_reduced-test.arff.xz",
            "6e02746211e423978c1dc3801518888cdd2355ae5e98e93c7a70414d737c7cdd",
            "7594040bfe35e09f674d1c15727d978f310c1106de49ea448764e4627b8b424d",
            f"{JUNG}/mediamill_reduced/mediamill-test.arff",
        ),
        DataFile("mediamill.xml", MEDIAMILL_XML, MEDIAMILL_XML, f"{JUNG}/mediamill/mediamill.xml"),
    ),
    "Jung and Tewari's sample of mediamill: the training part, then the test part; 75 rows have no relevant label",
    MEDIAMILL_CITATION,
)  # fmt: skip
