// This file lets names.go declare a function of package reflect.
