"""Takes an assignment with Go cells through nbgrader: generate, release, fetch, submit, collect, autograde, feedback.

Arguments: the folder of a course with nbgrader_config.py, and a folder for everything else. Prints the points of each
submission by test cell, and fails if another step does.
"""
import logging
import os
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.apps import NbGraderAPI
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import PyFileConfigLoader

course, work = sys.argv[1:3]


def cell(name, source, points=None):
    """Returns a cell for a solution, or a test cell with points."""
    tests = points is not None
    data = dict(schema_version=3, grade_id=name, solution=not tests, grade=tests, locked=tests, task=False)
    if tests:
        data["points"] = points
    return new_code_cell(source, metadata={"nbgrader": data})


SOURCE = [
    cell("scale", "// The loss scale after 40 steps without an overflow, with a growth interval of 20.\n"
         "// BEGIN SOLUTION\nscale := 65536 * 4\n// END SOLUTION"),
    cell("scale-test", 'exercise.Check("05.2", scale).Must()', 2),
    cell("norm", "type pair struct{ a, b float64 }\n\nfunc norm(p pair) float64 {\n"
         "\t// BEGIN SOLUTION\n\treturn math.Hypot(p.a, p.b)\n\t// END SOLUTION\n}"),
    cell("norm-test", "if got := norm(pair{3, 4}); got != 5 {\n\tpanic(fmt.Sprint(\"the norm of (3, 4) is 5, not \", got))\n}\n"
         "// BEGIN HIDDEN TESTS\nif norm(pair{0, -1}) != 1 {\n\tpanic(\"a norm is not negative\")\n}\n// END HIDDEN TESTS", 3),
    # Notes of the kernel on stderr do not cost points: about a type that is declared again, and a region that is left open.
    cell("note-test", 'p := pair{5, 12}\n_ = norm(p)\n', 1),
    cell("again-test", "type pair struct{ a, b, c float64 }\n\n_ = amp.Float16.Enter()", 1),
    # A number as the value of the last expression is the points.
    cell("dtypes", "dtypes := []string{}\n// BEGIN SOLUTION\ndtypes = []string{\"float16\", \"float16\", \"float32\"}\n// END SOLUTION"),
    cell("dtypes-test", 'points := 0.0\nfor i, want := range []string{"float16", "float16", "float32"} {\n'
         "\tif i < len(dtypes) && dtypes[i] == want {\n\t\tpoints += 0.5\n\t}\n}\npoints", 1.5),
]
RIGHT = {"scale": "scale := 1 << 18", "norm": "type pair struct{ a, b float64 }\n\nfunc norm(p pair) float64 { return math.Sqrt(p.a*p.a + p.b*p.b) }",
         "dtypes": 'dtypes := []string{"float16", "float16", "float32"}'}
ANSWERS = {
    "right": RIGHT,
    "wrong": {"scale": "scale := 65536", "norm": "type pair struct{ a, b float64 }\n\nfunc norm(p pair) float64 { return p.a + p.b }",
              "dtypes": "dtypes := []string{\"float32\"}"},
    # One wrong dtype, and a norm that passes only the tests that students see.
    "partial": RIGHT | {"norm": "type pair struct{ a, b float64 }\n\nfunc norm(p pair) float64 { return 5 }",
                        "dtypes": 'dtypes := []string{"float16", "float32", "float32"}'},
    # Text on stderr costs the points of the test cell that shows it, but not those of the cell before.
    "stderr": RIGHT | {"norm": 'import "os"\n\n' + RIGHT["norm"].replace("return", 'fmt.Fprintln(os.Stderr, "debug"); return'),
                       "dtypes": RIGHT["dtypes"] + '\nfmt.Fprintln(os.Stderr, "debug")'},
    "broken": RIGHT | {"scale": "scale := "},
    "empty": {},
}

metadata = {"kernelspec": {"name": "halfnote", "display_name": "Go (halfnote)", "language": "go"}, "language_info": {"name": "go"}}
config = PyFileConfigLoader("nbgrader_config.py", path=course).load_config()
config.CourseDirectory.root = course
config.CourseDirectory.course_id = "amp"
config.CourseDirectory.db_url = "sqlite:///" + os.path.join(work, "gradebook.db")
config.Exchange.root = os.path.join(work, "exchange")
config.Exchange.cache = os.path.join(work, "cache")
config.Exchange.assignment_dir = os.path.join(work, "student")
for name in ("exchange", "student"):
    os.mkdir(os.path.join(work, name))
os.chmod(os.path.join(work, "exchange"), 0o777)
os.makedirs(os.path.join(course, "source", "scaling"))
nbformat.write(new_notebook(cells=[new_markdown_cell("# Scaling")] + SOURCE, metadata=metadata), os.path.join(course, "source", "scaling", "scaling.ipynb"))

logging.getLogger().setLevel(logging.CRITICAL)
coursedir = CourseDirectory(config=config)
authenticator = Authenticator(config=config)
api = NbGraderAPI(coursedir=coursedir, authenticator=authenticator, config=config)
factory = ExchangeFactory(config=config)


def do(result):
    assert result["success"], result.get("log", "") + str(result.get("error", ""))
    return result


def exchange(kind, assignment, student):
    coursedir.assignment_id, coursedir.student_id = assignment, student
    getattr(factory, kind)(coursedir=coursedir, authenticator=authenticator, config=config).start()


do(api.generate_assignment("scaling"))
released = open(os.path.join(course, "release", "scaling", "scaling.ipynb")).read()
for gone in ("BEGIN SOLUTION", "65536 * 4", "HIDDEN", "not negative"):
    assert gone not in released, "released: " + gone
assert released.count('panic(\\"not implemented\\")') == 3, "stubs of the released notebook:\n" + released
do(api.release_assignment("scaling"))
exchange("FetchAssignment", "scaling", "*")
fetched = os.path.join(work, "student", "scaling", "scaling.ipynb")
for student, answers in ANSWERS.items():
    nb = nbformat.read(fetched if student == "right" else os.path.join(course, "release", "scaling", "scaling.ipynb"), as_version=4)
    for c in nb.cells:
        name = c.metadata.get("nbgrader", {}).get("grade_id")
        if name in answers:
            c.source = answers[name]
        elif name == "scale-test" and student == "wrong":
            c.source = "// this test is restored before it runs"
    if student == "right":
        nbformat.write(nb, fetched)
        exchange("Submit", "scaling", "right")
        continue
    os.makedirs(os.path.join(course, "submitted", student, "scaling"))
    nbformat.write(nb, os.path.join(course, "submitted", student, "scaling", "scaling.ipynb"))
coursedir.student_id = "*"
do(api.collect("scaling"))

points = {}
for student in ANSWERS:
    do(api.autograde("scaling", student))
    with api.gradebook as book:
        grades = book.find_submission("scaling", student).notebooks[0].grades
        points[student] = {grade.name: grade.auto_score for grade in grades}
do(api.generate_feedback("scaling"))
for student in ANSWERS:
    page = open(os.path.join(course, "feedback", student, "scaling", "scaling.html")).read()
    total = f"{sum(points[student].values()):g}"
    assert f"(Score: {float(total)} / 8.5)" in page, f"feedback of {student} lacks {total}: " + str([l for l in page.splitlines() if "Score" in l][:3])
for student, of in points.items():
    print(student, *(f"{name.removesuffix('-test')}={of[name]:g}" for name in sorted(of)))
