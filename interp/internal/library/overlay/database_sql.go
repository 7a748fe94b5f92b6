//go:build ignore

package sql

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

func (n *Null[T]) Scan(value any) error {
	if value == nil {
		n.V, n.Valid = *new(T), false
		return nil
	}
	n.Valid = true
	return assign(any(&n.V), value)
}

func (n Null[T]) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	v := any(n.V)
	if valuer, ok := v.(driver.Valuer); ok {
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
			return nil, nil
		}
		made, err := valuer.Value()
		if err != nil {
			return made, err
		}
		v = made
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}

// assign converts a value of a driver as Rows.Scan does. The exported types of the package convert what a database has a type for.
func assign(dest, value any) error {
	switch d := dest.(type) {
	case *string:
		var s NullString
		err := s.Scan(value)
		*d = s.String
		return err
	case *bool:
		var b NullBool
		err := b.Scan(value)
		*d = b.Bool
		return err
	case *time.Time:
		var t NullTime
		err := t.Scan(value)
		*d = t.Time
		return err
	case *[]byte:
		if b, ok := value.([]byte); ok {
			*d = bytes.Clone(b)
			return nil
		}
		var s NullString
		err := s.Scan(value)
		*d = []byte(s.String)
		return err
	case *any:
		if b, ok := value.([]byte); ok {
			value = bytes.Clone(b)
		}
		*d = value
		return nil
	}
	if s, ok := dest.(Scanner); ok {
		return s.Scan(value)
	}
	to, from := reflect.ValueOf(dest).Elem(), reflect.ValueOf(value)
	if from.Type().AssignableTo(to.Type()) || from.Kind() == to.Kind() && from.Type().ConvertibleTo(to.Type()) {
		to.Set(from.Convert(to.Type()))
		return nil
	}
	return parse(to, dest, value)
}

// parse converts by way of text.
func parse(to reflect.Value, dest, value any) error {
	if to.Kind() == reflect.Pointer {
		made := reflect.New(to.Type().Elem())
		err := assign(made.Interface(), value)
		to.Set(made)
		return err
	}
	var s NullString
	err := s.Scan(value)
	if err != nil {
		return err
	}
	switch to.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var i int64
		i, err = strconv.ParseInt(s.String, 10, to.Type().Bits())
		to.SetInt(i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var u uint64
		u, err = strconv.ParseUint(s.String, 10, to.Type().Bits())
		to.SetUint(u)
	case reflect.Float32, reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(s.String, to.Type().Bits())
		to.SetFloat(f)
	case reflect.String:
		to.SetString(s.String)
	default:
		return fmt.Errorf("unsupported Scan, storing driver.Value type %T into type %T", value, dest)
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		err = number.Err
	}
	if err != nil {
		return fmt.Errorf("converting driver.Value type %T (%q) to a %s: %v", value, s.String, to.Kind(), err)
	}
	return nil
}
