"""Answers of a server of OpenML on 127.0.0.1: a data set, three tasks of it, and what a server gets wrong."""

import gzip
import hashlib
from collections.abc import Callable, Mapping

N_ROWS = 40
DATA, TASK, HOLDOUT, CURVE, UNKNOWN = 61, 59, 60, 71, 4000
FOLDS, REPEATS = 4, 2

ARFF = "\n".join(
    [
        "@RELATION bottles",
        "@ATTRIBUTE number INTEGER",
        "@ATTRIBUTE strength REAL",
        "@ATTRIBUTE grape {1,2,None}",
        "@ATTRIBUTE kind {0,1}",
        "@DATA",
        *(
            f"{k},{'?' if k == 3 else k / 4},{['1', '2', 'None'][k % 3]},{int(k * 7 % N_ROWS > 20)}"
            for k in range(N_ROWS)
        ),
        "",
    ]
)
FEATURES = [("number", "numeric"), ("strength", "numeric"), ("grape", "nominal"), ("kind", "nominal")]
SPACE = 'xmlns:oml="http://openml.org/openml"'


def split_of(repeat: int, row: int) -> int:
    """The fold in which a row is tested by the task with cross-validation."""
    return (row + repeat * (row // 10)) % FOLDS


def _split(lines: list[str]) -> str:
    head = ["@RELATION splits", "@ATTRIBUTE type {TRAIN,TEST}", "@ATTRIBUTE rowid INTEGER"]
    return "\n".join([*head, "@ATTRIBUTE repeat INTEGER", "@ATTRIBUTE fold INTEGER", "@DATA", *lines, ""])


SPLITS = {
    TASK: _split(
        [
            f"{'TEST' if split_of(repeat, row) == fold else 'TRAIN'},{row},{repeat},{fold}"
            for repeat in range(REPEATS)
            for fold in range(FOLDS)
            for row in range(N_ROWS)
        ]
    ),
    HOLDOUT: _split([f"{'TEST' if row % 4 == 0 else 'TRAIN'},{row},0,0" for row in range(N_ROWS)]),
    CURVE: _split([]),
}
PROCEDURES = {TASK: "crossvalidation", HOLDOUT: "holdout", CURVE: "bootstrapping"}


def _description(root: str, arff: str) -> str:
    checksum = hashlib.md5(ARFF.encode(), usedforsecurity=False).hexdigest()
    return f"""<oml:data_set_description {SPACE}><oml:id>{DATA}</oml:id><oml:name>bottles</oml:name>
<oml:version>1</oml:version><oml:description>Forty bottles</oml:description><oml:format>ARFF</oml:format>
<oml:creator>A. Maker</oml:creator><oml:creator>B. Other</oml:creator><oml:licence>CC BY 4.0</oml:licence>
<oml:url>{root}{arff}</oml:url><oml:file_id>7</oml:file_id>
<oml:default_target_attribute>kind</oml:default_target_attribute>
<oml:row_id_attribute>number</oml:row_id_attribute><oml:md5_checksum>{checksum}</oml:md5_checksum>
<oml:status>active</oml:status></oml:data_set_description>"""


def _features() -> str:
    each = "".join(
        f"<oml:feature><oml:index>{k}</oml:index><oml:name>{name}</oml:name><oml:data_type>{kind}"
        f"</oml:data_type>{'<oml:nominal_value>0</oml:nominal_value>' * (kind == 'nominal')}"
        "<oml:is_target>false</oml:is_target><oml:is_ignore>false</oml:is_ignore>"
        "<oml:is_row_identifier>false</oml:is_row_identifier>"
        "<oml:number_of_missing_values>0</oml:number_of_missing_values></oml:feature>"
        for k, (name, kind) in enumerate(FEATURES)
    )
    return f"<oml:data_features {SPACE}>{each}</oml:data_features>"


def _task(root: str, number: int) -> str:
    return f"""<oml:task {SPACE}><oml:task_id>{number}</oml:task_id>
<oml:task_name>Task {number}</oml:task_name><oml:task_type_id>1</oml:task_type_id>
<oml:task_type>Supervised Classification</oml:task_type>
<oml:input name="source_data"><oml:data_set><oml:data_set_id>{DATA}</oml:data_set_id>
<oml:target_feature>kind</oml:target_feature></oml:data_set></oml:input>
<oml:input name="estimation_procedure"><oml:estimation_procedure><oml:id>1</oml:id>
<oml:type>{PROCEDURES[number]}</oml:type><oml:data_splits_url>{root}/splits/{number}</oml:data_splits_url>
<oml:parameter name="number_repeats">{REPEATS}</oml:parameter>
<oml:parameter name="number_folds">{FOLDS}</oml:parameter>
<oml:parameter name="percentage"></oml:parameter>
<oml:parameter name="stratified_sampling">true</oml:parameter>
</oml:estimation_procedure></oml:input>
<oml:input name="cost_matrix"><oml:cost_matrix></oml:cost_matrix></oml:input>
<oml:input name="evaluation_measures"><oml:evaluation_measures>
<oml:evaluation_measure></oml:evaluation_measure>
</oml:evaluation_measures></oml:input></oml:task>"""


ERROR = f"""<oml:error {SPACE}><oml:code>111</oml:code><oml:message>Unknown dataset</oml:message>
<oml:additional_information>None</oml:additional_information></oml:error>"""


def api(root: str, instead: Mapping[str, Callable] | None = None) -> Callable:
    """A step of a scripted server that answers as OpenML does, or `instead` by the end of the path."""
    texts = {
        f"/data/{DATA}": _description(root, "/data/v1/download/7/bottles.arff"),
        f"/data/features/{DATA}": _features(),
        "/bottles.arff": ARFF,
        **{f"/task/{number}": _task(root, number) for number in SPLITS},
        **{f"/splits/{number}": text for number, text in SPLITS.items()},
    }

    def step(handler):
        path = handler.path.partition("?")[0]
        for ending, other in (instead or {}).items():
            if path.endswith(ending):
                other(handler)
                return
        found = [text for ending, text in texts.items() if path.endswith(ending)]
        body = gzip.compress((found[0] if found else ERROR).encode())
        handler.send_response(200 if found else 412)
        handler.send_header("Content-Type", "text/xml")
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return step
