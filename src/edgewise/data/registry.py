"""The data sets known by name: what they are, their files and checksums, and how the files are read.

Checksums are those of the files as stored (packed or not) and of their content; where a download is in another form,
whose checksum is not known, `substitute` says so, and the loaded rows and class counts are checked instead.
"""

from __future__ import annotations

from dataclasses import replace

from edgewise.data.dataset import UCI_CITATION, DataFile, Dataset
from edgewise.data.mulan_sets import EMOTIONS, MEDIAMILL, MEDIAMILL_REDUCED, SCENE, YEAST

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


def _plain(name: str, sha256: str, folder: str) -> DataFile:
    return DataFile(name, sha256, sha256, f"{UCI}/{folder}/{name}")


BALANCE = Dataset(
    "balance",
    "Balance Scale",
    4,
    {"L": 288, "B": 49, "R": 288},
    (
        _plain(
            "balance-scale.data", "5611187ef7345d807aa8ae22615945ade52a190537c0b1434bd44c3e877c5bb4", "balance-scale"
        ),
    ),
    "UCI; rows are in lexicographic order of the four integers, so shuffle",
    options={"target": 0, "header": ("class", "left-weight", "left-distance", "right-weight", "right-distance")},
)

CAR = Dataset(
    "car",
    "Car Evaluation, all features nominal",
    6,
    {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65},
    (_plain("car.data", "b703a9ac69f11e64ce8c223c0a40de4d2e9d769f7fb20be5f8f2e8a619893d83", "car"),),
    "UCI; rows are in systematic order, so shuffle",
    options={"header": ("buying", "maint", "doors", "persons", "lug_boot", "safety", "class")},
)

SQUARES = tuple(f"{column}{row}" for column in "abcdefg" for row in range(1, 7))
CONNECT_4 = Dataset(
    "connect-4",
    "Connect-4, positions after 8 moves, all features nominal",
    42,
    {0: 6449, 1: 16635, 2: 44473},
    (
        DataFile(
            "connect-4.tsv.gz",
            "e283074e1123d23361332bd83414c172640d2596fc076d1e20e8f4a64a658137",
            "8209a4bca4de6c0073d781d31751dc07b57a38d5c75196ef5b69f2c87374c1a9",
            "https://github.com/EpistasisLab/pmlb/raw/master/datasets/connect_4/connect_4.tsv.gz",
        ),
    ),
    "Penn Machine Learning Benchmarks: UCI's rows in UCI's order, recoded. A square is 0 blank, 1 o or 2 x, the player "
    "to move first; the class is the outcome for x: 0 draw, 1 loss, 2 win",
    "Tromp, Connect-4 database, 1995; " + UCI_CITATION,
    options={"target": "target", "header": True, "delimiter": "\t", "categorical": SQUARES},
)

MICE = Dataset(
    "mice",
    "Mice Protein Expression, missing values kept",
    77,
    {
        "c-CS-m": 150, "c-SC-m": 150, "c-CS-s": 135, "c-SC-s": 135,
        "t-CS-m": 135, "t-SC-m": 135, "t-SC-s": 135, "t-CS-s": 105,
    },
    (DataFile(
        "Data_Cortex_Nuclear.csv",
        "eb572e25bafaebcec6e5bd3d109b807818b29bdbb0cd62f07b4ef1544225bbaf",
        "eb572e25bafaebcec6e5bd3d109b807818b29bdbb0cd62f07b4ef1544225bbaf",
    ),),
    "UCI, the workbook Data_Cortex_Nuclear.xls written as CSV, double for double. UCI offers only the workbook, so the "
    "download is OpenML's ARFF (data set 40966), whose checksum and number format are not known here. The 77 proteins "
    "are the features: MouseID leaks the class, and Genotype, Treatment and Behavior determine it. Rows are grouped by "
    "class, so shuffle",
    "Higuera, Gardiner and Cios, PLoS ONE 10(6), 2015; " + UCI_CITATION,
    substitute=DataFile("MiceProtein.arff", url="https://www.openml.org/data/v1/download/17928620/MiceProtein.arff"),
    options={"target": "class", "drop": ("MouseID", "Genotype", "Treatment", "Behavior"), "header": True},
)  # fmt: skip

MUSHROOM = Dataset(
    "mushroom",
    'Mushroom, "?" a category of its own',
    22,
    {"e": 4208, "p": 3916},
    (
        _plain(
            "agaricus-lepiota.data", "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e", "mushroom"
        ),
    ),
    "UCI; 2480 values of stalk-root are unknown",
    options={
        "target": 0,
        "missing": (),
        "header": (
            "class", "cap-shape", "cap-surface", "cap-color", "bruises", "odor", "gill-attachment", "gill-spacing",
            "gill-size", "gill-color", "stalk-shape", "stalk-root", "stalk-surface-above-ring",
            "stalk-surface-below-ring", "stalk-color-above-ring", "stalk-color-below-ring", "veil-type", "veil-color",
            "ring-number", "ring-type", "spore-print-color", "population", "habitat",
        ),
    },
)  # fmt: skip

NURSERY = Dataset(
    "nursery",
    "Nursery, five classes",
    8,
    {"not_recom": 4320, "priority": 4266, "spec_prior": 4044, "very_recom": 328, "recommend": 2},
    (_plain("nursery.data", "8e0389c3dd37590248a921c2726d869ee96b817761a35eb8416afa24f31f931d", "nursery"),),
    "UCI; rows are in systematic order, so shuffle",
    options={"header": ("parents", "has_nurs", "form", "children", "housing", "finance", "social", "health", "class")},
)

ISOLET_COUNTS = {letter: 300 for letter in range(1, 27)} | {6: 298, 13: 299}
ISOLET = Dataset(
    "isolet",
    "ISOLET, spoken letters, 617 features",
    617,
    ISOLET_COUNTS,
    (
        DataFile(
            "isolet1+2+3+4.classsorted.data.xz",
            "19185231fe0179e7f229b0b879284b932d96578774d5cdd4366545e2b6b665b6",
            "a4f27347a03785e4603b664cffa9212951a142d8f8f86e833eca12ecd19fe4cf",
        ),
        DataFile(
            "isolet5.data.xz",
            "cd8e26c8d95b841a0979f2c09565b24b058e085443bf45843c19cd99dda58bc9",
            "d3409bb424f2bf9a68d0d07d4824b1d776b430d2e49c1207f00502a9e2f2a899",
        ),
    ),
    "UCI; parts 1 to 4, then part 5. Parts 1 to 4 are the same rows as UCI's, each part sorted by class: shuffle. UCI "
    "packs its files with `compress` (isolet/isolet1+2+3+4.data.Z), which Python can not unpack, so the download is "
    "OpenML's ARFF (data set 300), whose checksum and row order are not known here",
    "Fanty and Cole, Spoken letter recognition, NIPS 1990; " + UCI_CITATION,
    train_rows=6238,
    substitute=DataFile("isolet.arff", url="https://www.openml.org/data/download/52405/phpB0xrNj"),
    options={"classes": tuple(range(1, 27)), "header": (*(f"f{number}" for number in range(1, 618)), "class")},
)

MOVEMENT = Dataset(
    "movement",
    "Movement, PUC-Rio body postures from four accelerometers",
    12,
    {"sitting": 50631, "sittingdown": 11827, "standing": 47370, "standingup": 12414, "walking": 43390},
    (
        DataFile(
            "dataset-har-PUC-Rio-ugulino.csv.xz",
            "e819cfa7ee06258f100c961d63dcb2bbe56543a489ae10870bced06e9746387b",
            "90cb6bde9e321a3e64126a5bfd20e48b816038a0e6cb1dfab9c821e20fd53c1b",
            "http://groupware.les.inf.puc-rio.br/static/har/dataset-har-PUC-Rio-ugulino.zip",
            member="dataset-har-PUC-Rio-ugulino.csv",
        ),
    ),
    "PUC-Rio; the six columns about the user are left out, and the row whose z4 is broken (line 122078). Rows are "
    "grouped by user and class, so shuffle",
    "Ugulino et al., Wearable Computing: Accelerometers' Data Classification of Body Postures and Movements, SBIA 2012",
    options={
        "target": "class",
        "header": True,
        "delimiter": ";",
        "drop": ("user", "gender", "age", "how_tall_in_meters", "weight", "body_mass_index"),
        "categorical": ("z4",),
    },
    spare_rows=1,
)

ELECTRICITY = Dataset(
    "electricity",
    "Electricity, New South Wales, in order of time",
    8,
    {"DOWN": 26075, "UP": 19237},
    (
        DataFile(
            "elecNormNew.arff.xz",
            "405e8379eb7b6a24ae02313cb6809257a736bcafadee01c45190373394eed0a8",
            "2d86fbc74c69a5c04bcde0119bce280dd6d8efa0115987edc75b77ccf024d7f2",
            "https://downloads.sourceforge.net/project/moa-datastream/Datasets/Classification/elecNormNew.arff.zip",
            member="elecNormNew.arff",
        ),
    ),
    "MOA, normalized; a real stream: keep its order",
    "Harries, Splice-2 comparative evaluation: electricity pricing, University of New South Wales, 1999",
    in_order=True,
)

LETTER = Dataset(
    "letter",
    "Letter Recognition",
    16,
    dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (
        789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792,
        783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734,
    ), strict=True)),
    (_plain(
        "letter-recognition.data",
        "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
        "letter-recognition",
    ),),
    "UCI; customarily the first 16,000 rows train and the last 4,000 test",
    "Frey and Slate, Letter recognition using Holland-style adaptive classifiers, Machine Learning 6, 1991; "
    + UCI_CITATION,
    train_rows=16000,
    options={
        "target": 0,
        "header": (
            "class", "x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar", "y2bar", "xybar", "x2ybr",
            "xy2br", "x-ege", "xegvy", "y-ege", "yegvx",
        ),
    },
)  # fmt: skip

COVERTYPE = Dataset(
    "covertype",
    "Forest cover type, raw values",
    54,
    {1: 211840, 2: 283301, 3: 35754, 4: 2747, 5: 9493, 6: 17367, 7: 20510},
    (DataFile(
        "covtype.data.xz",
        "bbaed4fe81a7ac1b4ce6d3df1bcf79f1e11fefcc2336dbcdecf2ca69fe7cf26d",
        "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
        f"{UCI}/covtype/covtype.data.gz",
    ),),
    "UCI; all values are integers, 44 of the features 0 or 1; not the normalized version of MOA",
    "Blackard and Dean, Computers and Electronics in Agriculture 24(3), 1999; " + UCI_CITATION,
    options={
        "header": (
            "Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology", "Vertical_Distance_To_Hydrology",
            "Horizontal_Distance_To_Roadways", "Hillshade_9am", "Hillshade_Noon", "Hillshade_3pm",
            "Horizontal_Distance_To_Fire_Points", *(f"Wilderness_Area{area}" for area in range(1, 5)),
            *(f"Soil_Type{soil}" for soil in range(1, 41)), "Cover_Type",
        ),
    },
)  # fmt: skip

KDD99 = Dataset(
    "kdd99",
    "KDD Cup 1999, network connections, the 10 percent file, in order",
    41,
    {
        "smurf": 280790, "neptune": 107201, "normal": 97278, "back": 2203, "satan": 1589, "ipsweep": 1247,
        "portsweep": 1040, "warezclient": 1020, "teardrop": 979, "pod": 264, "nmap": 231, "guess_passwd": 53,
        "buffer_overflow": 30, "land": 21, "warezmaster": 20, "imap": 12, "rootkit": 10, "loadmodule": 9,
        "ftp_write": 8, "multihop": 7, "phf": 4, "perl": 3, "spy": 2,
    },
    (DataFile(
        "kddcup.data_10_percent.gz",
        "7bfaa8cef1350f72842018c32893e2fa4539d57efbb22f998eb74ecefc3da3b4",
        "f8c8267ebcd9c0ed1fd7d6277fe5bfff8732e9b7db8e61b873542b2a534b6f9a",
        f"{UCI}/kddcup99-mld/kddcup.data_10_percent.gz",
    ),),
    "UCI; a simulated stream of connections: keep its order, in which attacks come in long runs. Protocol, service and "
    "flag are nominal, columns of 0 and 1 numeric; the full stop after each label is left out",
    "Stolfo et al., KDD Cup 1999, from the 1998 DARPA Intrusion Detection Evaluation Program; " + UCI_CITATION,
    in_order=True,
    options={
        "format": "csv",
        "header": (
            "duration", "protocol_type", "service", "flag", "src_bytes", "dst_bytes", "land", "wrong_fragment",
            "urgent", "hot", "num_failed_logins", "logged_in", "num_compromised", "root_shell", "su_attempted",
            "num_root", "num_file_creations", "num_shells", "num_access_files", "num_outbound_cmds", "is_host_login",
            "is_guest_login", "count", "srv_count", "serror_rate", "srv_serror_rate", "rerror_rate",
            "srv_rerror_rate", "same_srv_rate", "diff_srv_rate", "srv_diff_host_rate", "dst_host_count",
            "dst_host_srv_count", "dst_host_same_srv_rate", "dst_host_diff_srv_rate", "dst_host_same_src_port_rate",
            "dst_host_srv_diff_host_rate", "dst_host_serror_rate", "dst_host_srv_serror_rate", "dst_host_rerror_rate",
            "dst_host_srv_rerror_rate", "label",
        ),
    },
)  # fmt: skip

PENDIGITS = Dataset(
    "pendigits",
    "Pen-based digits, training part then test part",
    16,
    {0: 1143, 1: 1143, 2: 1144, 3: 1055, 4: 1144, 5: 1055, 6: 1056, 7: 1142, 8: 1055, 9: 1055},
    (
        _plain("pendigits.tra", "e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3", "pendigits"),
        _plain("pendigits.tes", "8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015", "pendigits"),
    ),
    "UCI; the two parts have different writers",
    train_rows=7494,
    options={
        "format": "csv",
        "header": (*(f"{axis}{point}" for point in range(1, 9) for axis in "xy"), "class"),
    },
)

POKER = Dataset(
    "poker",
    "Poker hands, the training file",
    10,
    {0: 12493, 1: 10599, 2: 1206, 3: 513, 4: 93, 5: 54, 6: 36, 7: 6, 8: 5, 9: 5},
    (
        _plain(
            "poker-hand-training-true.data", "865e3ddab86a461d6d556ae339ca0c13b602d8be9088281abe8b2accd75a9f69", "poker"
        ),
    ),
    "UCI; five cards, suit 1 to 4 and rank 1 (ace) to 13 of each. UCI's test file of 1,000,000 rows is not part of it",
    "Cattral, Oppacher and Deugo, Evolutionary data mining with automatic rule generalization, 2002; " + UCI_CITATION,
    options={"header": (*(f"{what}{card}" for card in range(1, 6) for what in ("suit", "rank")), "class")},
)

SATIMAGE = Dataset(
    "satimage",
    "Statlog Landsat satellite, training part then test part",
    36,
    {1: 1533, 2: 703, 3: 1358, 4: 626, 5: 707, 7: 1508},
    (
        _plain("sat.trn", "e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613", "statlog/satimage"),
        _plain("sat.tst", "4b9167b8a92baafafed7c8809aef86d0683a5e685c19d98d119fa6974f0f2479", "statlog/satimage"),
    ),
    "UCI; 3 x 3 pixels in 4 bands; class 6 does not occur",
    train_rows=4435,
    options={
        "format": "csv",
        "delimiter": " ",
        "header": (*(f"pixel{pixel}-band{band}" for pixel in range(1, 10) for band in range(1, 5)), "class"),
    },
)

ABALONE = Dataset(
    "abalone",
    "Abalone, rings from measures of the shell (real target)",
    8,
    {},
    (_plain("abalone.data", "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f", "abalone"),),
    "UCI",
    "Nash et al., The Population Biology of Abalone, Sea Fisheries Division, Technical Report 48, 1994; "
    + UCI_CITATION,
    options={
        "header": ("Sex", "Length", "Diameter", "Height", "Whole", "Shucked", "Viscera", "Shell", "Rings"),
        "numeric": ("Rings",),
    },
    total_rows=4177,
)

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
A9A = Dataset(
    "a9a",
    "A9A, Adult as 123 binary features, training part then test part",
    123,
    {-1: 37155, 1: 11687},
    (
        DataFile(
            "a9a.xz",
            "cea7c541c650d123ac692cb8e2244d1c2e82f67c75cbfeccdb25a4b6fc88ef72",
            "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
            f"{LIBSVM}/binary/a9a",
        ),
        DataFile(
            "a9a.t.xz",
            "11dcdf09d2c3502c1e972986b8d8022b5adf895311e41e37e06e26ebc1ef45f3",
            "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
            f"{LIBSVM}/binary/a9a.t",
        ),
    ),
    "LIBSVM collection",
    "Platt, Fast training of support vector machines using sequential minimal optimization, 1998; " + UCI_CITATION,
    options={"format": "libsvm", "n_features": 123},
    train_rows=32561,
)


def _mnist(name: str, sha256: str, content_sha256: str) -> DataFile:
    return DataFile(name, sha256, content_sha256, f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}")


MNIST = Dataset(
    "mnist",
    "MNIST, handwritten digits of 28 x 28 pixels, training part then test part",
    784,
    {0: 6903, 1: 7877, 2: 6990, 3: 7141, 4: 6824, 5: 6313, 6: 6876, 7: 7293, 8: 6825, 9: 6958},
    (
        _mnist(
            "train-images-idx3-ubyte.gz",
            "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ),
        _mnist(
            "train-labels-idx1-ubyte.gz",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
        _mnist(
            "t10k-images-idx3-ubyte.gz",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ),
        _mnist(
            "t10k-labels-idx1-ubyte.gz",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ),
    "LeCun, Cortes and Burges; pixels are 0 to 255",
    "LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document recognition, Proc. IEEE 86, 1998",
    train_rows=60000,
)

YEAR = Dataset(
    "year",
    "YearPredictionMSD, the year of a song from 90 features of its timbre (real target), training part then test part",
    90,
    {},
    (DataFile("YearPredictionMSD.txt", url=f"{UCI}/00203/YearPredictionMSD.txt.zip", member="YearPredictionMSD.txt"),),
    "UCI; its checksum is not known here. The parts have no artist in common: keep them apart",
    "Bertin-Mahieux et al., The Million Song Dataset, ISMIR 2011; " + UCI_CITATION,
    options={
        "target": 0,
        "header": ("year", *(f"timbre{number}" for number in range(1, 91))),
        "numeric": ("year",),
    },
    total_rows=515345,
    train_rows=463715,
)

SLICE = Dataset(
    "slice",
    "Relative location of CT slices on the axial axis (real target)",
    384,
    {},
    (
        DataFile(
            "slice_localization_data.csv",
            url=f"{UCI}/00206/slice_localization_data.zip",
            member="slice_localization_data.csv",
        ),
    ),
    "UCI; its checksum is not known here. The number of the patient is left out",
    "Graf et al., 2D Image Registration in CT Images using Radial Image Descriptors, MICCAI 2011; " + UCI_CITATION,
    options={"target": "reference", "drop": ("patientId",), "header": True, "numeric": ("reference",)},
    total_rows=53500,
)

SETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        A9A,
        ABALONE,
        BALANCE,
        CAR,
        replace(CAR, name="car-numeric", title='Car Evaluation, doors and persons as numbers ("5more", "more": 5)'),
        CONNECT_4,
        COVERTYPE,
        ELECTRICITY,
        ISOLET,
        replace(ISOLET, name="isolet-50", title="ISOLET, first 50 principal components of all rows", features=50),
        KDD99,
        LETTER,
        MICE,
        replace(MICE, name="mice-zero", title="Mice Protein Expression, missing values 0 as in Jung et al. 2017"),
        MNIST,
        MOVEMENT,
        MUSHROOM,
        NURSERY,
        replace(
            NURSERY,
            name="nursery-4",
            title="Nursery without the 2 rows of class recommend",
            class_counts={label: rows for label, rows in NURSERY.class_counts.items() if label != "recommend"},
            spare_rows=2,
        ),
        PENDIGITS,
        POKER,
        SATIMAGE,
        EMOTIONS,
        SCENE,
        YEAST,
        MEDIAMILL,
        MEDIAMILL_REDUCED,
        SLICE,
        YEAR,
    )
}
