package core

import "strings"

// Position is a set of properties of the place in which an expression stands. Most describe the parent node; the others, after
// Sent, are added to one of these.
type Position uint64

// Positions of expressions.
const (
	Effect    Position = 1 << iota // a statement by itself
	Defined                        // right side of := with one variable on each side, or value of var
	Assigned                       // right side of = with one operand on each side
	Parallel                       // one of several right sides of =
	Together                       // one of several right sides of :=
	Tuple                          // right side that sets several operands
	Operation                      // right side of op=
	Target                         // left side
	Returned                       // only operand of return
	Argument                       // argument of a function of a package, or of a cell
	Spread                         // argument before ...
	Builtin                        // argument of a built-in function
	Callee                         // what a call calls
	Base                           // what a selector, an index or a slice is applied to
	Index                          // index, key of a map, bound of a slice
	Operand                        // operand of arithmetic and of comparisons
	Logical                        // operand of &&, || and !
	Condition                      // condition of if and for, and of a case of a switch without a tag
	Tag                            // tag of a switch, operand of a type switch
	Case                           // only expression of a case
	MoreCase                       // one of several expressions of a case
	Ranged                         // operand of range
	Element                        // element of a composite literal
	Key                            // key of an element
	Converted                      // operand of a conversion
	Asserted                       // operand of a type assertion
	Addressed                      // operand of &
	Followed                       // operand of *
	Received                       // operand of <-
	Channel                        // channel of a send statement
	Started                        // call of go
	Deferred                       // call of defer
	Sent                           // value of a send statement

	First       // first that runs of the left operand of && or ||
	Several     // operand of return beside others
	AnyResult   // operand of return whose result is of interface type
	NamedResult // operand of return whose result is of a named func type, if it has operands that are more than names
	Variadic    // argument that becomes an element of a variadic parameter
	WholeList   // such an argument, of the type of the parameter's slice
	TupleTarget // left side of an assignment of several results
	OtherType   // such a left side whose type is not that of the result

	beyond
	Everywhere = beyond - 1
)

var positionNames = []string{
	"a statement by itself", "right side of :=", "right side of =", "right side of a parallel assignment", "right side of a parallel definition", "right side that sets several operands",
	"right side of an op-assignment", "left side of an assignment", "operand of return", "argument", "argument before ...", "argument of a built-in function",
	"callee", "operand of a selector or an index", "index", "operand of an operator", "operand of a logical operator", "condition", "tag of a switch",
	"expression of a case", "one of several expressions of a case", "operand of range", "element of a literal", "key in a literal", "operand of a conversion",
	"operand of a type assertion", "operand of &", "operand of *", "operand of <-", "channel of a send statement", "call of a go statement",
	"call of a defer statement", "value that is sent",
	"start of the left operand of && or ||", "operand of return beside others", "operand of return for a result of interface type",
	"operand of return with operands, for a result of a named func type", "variadic argument", "variadic argument of the type of the whole list",
	"left side of an assignment of several results", "left side of an assignment of several results of other types",
}

func (p Position) String() string {
	var list []string
	for i, name := range positionNames {
		if p&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// name is the most particular of the positions.
func (p Position) name() string {
	for i := len(positionNames) - 1; i >= 0; i-- {
		if p&(1<<i) != 0 {
			return positionNames[i]
		}
	}
	return "unknown"
}
