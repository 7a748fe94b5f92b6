// Package exercise asks a learner for predictions and checks answers to the exercises of the course.
//
//	exercise.Predict("05", "bfloat16")            // keep a guess before an experiment
//	exercise.Compare("05", fastest)               // see it next to the result
//	exercise.Check("05.1", "float16")             // check an answer; a wrong one gets a hint
//	exercise.Progress()                           // the page of what is solved
//
// An answer is a number, a number as an expression ("2^-24"), a text, a truth value, a list of these, or a
// function, as the exercise says. A nil answer shows the task. Each exercise gives its hints one at a time, and
// never its solution.
//
// Guesses and solved exercises are kept in a file of the user, so that they survive a restart of the kernel:
// the one that HALFNOTE_PROGRESS names, or halfnote/progress.json in the user's configuration folder. Set the
// variable to an empty text to keep nothing.
//
// In a graded notebook, a test cell ends in a statement that panics unless the answer is right:
//
//	exercise.Check("05.1", answer).Must()
package exercise
