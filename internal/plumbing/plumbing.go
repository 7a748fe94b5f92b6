// Package plumbing connects the packages of this module beyond their exported names. A package that does more for the others than
// for users has a function Internal, which takes a [Token] and returns a value with methods:
//
//	var fused = tensor.Internal(plumbing.Token{}).Fused
//
// Only packages of this module can import this one and make a Token. Cells can neither import nor complete any of it: the generators
// of what cells see leave out functions with a Token. The package also has the types that such methods take. It does not import package
// tensor, so these have the tensor type as a parameter.
package plumbing

// Token is the argument of the functions named Internal.
type Token struct{ _ struct{} }
