package exercise

// Evaluate is exported for tests.
var Evaluate = evaluate

// Keys returns the hints of the mistakes of each exercise, by its id.
func Keys() map[string][]string {
	keys := map[string][]string{}
	for _, l := range lessons {
		for _, e := range l.exercises {
			keys[e.id] = []string{}
			for _, m := range e.mistakes {
				keys[e.id] = append(keys[e.id], m.hint)
			}
		}
	}
	return keys
}

// EachExercise calls f with the title of the lesson, and the id, place, task and explanation of each exercise, in order.
func EachExercise(f func(lesson, id, kind, task, why string)) {
	for _, l := range lessons {
		for _, e := range l.exercises {
			f(l.number+" "+l.title, e.id, string(e.kind), e.task, e.why)
		}
	}
}

// Restart forgets what is in memory, as a new kernel does.
func Restart() {
	book = store{}
	language.Store(nil)
}
