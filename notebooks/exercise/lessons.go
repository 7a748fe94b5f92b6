package exercise

// lessons contains the key of every notebook of the course, in order.
var lessons = []lesson{
	lesson01,
	lesson02,
	lesson03,
	lesson04,
	lesson05,
	lesson06,
	lesson12,
	lesson13,
	lesson18,
}
