package exercise

import (
	"fmt"
	"slices"
	"strings"
)

// lesson is the key to one notebook: what it asks, and what it accepts.
type lesson struct {
	number, title string
	predictions   []prediction
	exercises     []exercise
}

// prediction is a question before an experiment.
type prediction struct {
	id       string
	question string
	guess    guess
}

// kind is the place of an exercise in its lesson.
type kind string

const (
	warmUp  kind = "Warm-up"
	change  kind = "Change"
	design  kind = "Design"
	findBug kind = "Find the bug"
)

// exercise is a task with the answers that it accepts.
type exercise struct {
	id       string // number of the lesson, a dot, and a number: "05.1"
	kind     kind
	task     string // what to answer with, as a noun phrase
	accept   answer
	why      string   // explanation that a right answer gets
	hints    []string // one more after each wrong answer
	mistakes []mistake
}

// mistake is a wrong answer that learners often give.
type mistake struct {
	when answer
	hint string
}

// find returns the exercise with the given id, and panics for an unknown one.
func find(id string) exercise {
	l := lessonOf("Check", id)
	for _, e := range l.exercises {
		if e.id == id {
			return e
		}
	}
	var ids []string
	for _, e := range l.exercises {
		ids = append(ids, e.id)
	}
	panic(fmt.Sprintf("exercise.Check: unknown exercise %q; lesson %s has %s", id, l.number, strings.Join(ids, ", ")))
}

// findPrediction returns the prediction with the given id, and panics for an unknown one.
func findPrediction(function, id string) prediction {
	l := lessonOf(function, id)
	for _, p := range l.predictions {
		if p.id == id {
			return p
		}
	}
	var ids []string
	for _, p := range l.predictions {
		ids = append(ids, fmt.Sprintf("%q", p.id))
	}
	panic(fmt.Sprintf("exercise.%s: unknown prediction %q; lesson %s has %s", function, id, l.number, strings.Join(ids, ", ")))
}

// lessonOf returns the lesson whose number id begins with, and panics for an unknown one.
func lessonOf(function, id string) lesson {
	i := slices.IndexFunc(lessons, func(l lesson) bool { return strings.HasPrefix(id, l.number) })
	if i < 0 {
		var numbers []string
		for _, l := range lessons {
			numbers = append(numbers, l.number)
		}
		panic(fmt.Sprintf("exercise.%s: unknown lesson in %q; want an id that starts with one of %s", function, id, strings.Join(numbers, ", ")))
	}
	return lessons[i]
}
