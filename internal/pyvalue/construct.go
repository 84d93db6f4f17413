package pyvalue

import (
	"errors"
	"fmt"
	"slices"
)

// function is one of the functions whose meaning the reader knows.
type function string

const (
	getattr     function = "builtins getattr"
	makeDtype   function = "numpy dtype"
	ndarray     function = "numpy ndarray" // only as an argument
	makeScalar  function = "numpy.core.multiarray scalar"
	reconstruct function = "numpy.core.multiarray _reconstruct"
)

// functions has the names they had and have.
var functions = map[string]function{
	string(getattr): getattr, string(makeDtype): makeDtype, string(ndarray): ndarray,
	string(makeScalar): makeScalar, "numpy._core.multiarray scalar": makeScalar,
	string(reconstruct): reconstruct, "numpy._core.multiarray _reconstruct": reconstruct,
}

// dtype is a NumPy type. It comes in two steps: its code, then its byte order.
type dtype struct {
	code string
	typ  Type // "" before the second step
}

func (function) isValue() {}
func (*dtype) isValue()   {}

// name pushes what a global name stands for.
func (r *pickleReader) name(module, name string) error {
	c := Class{module, name}
	for known := range r.options.Globals {
		if known == c {
			return r.push(known) // whose texts are compared faster with those of who gave it
		}
	}
	if f, ok := functions[module+" "+name]; ok {
		return r.push(f)
	}
	return fmt.Errorf("it names %s, which is not one of the names that are accepted", quote(c.String()))
}

// use is how a class may be used. A file has objects of a few classes in turn, so what was looked up is kept.
func (r *pickleReader) use(c Class) *Use {
	kept := &r.kept[len(c.Name)%len(r.kept)]
	if kept.class != c {
		kept.class, kept.use = c, r.options.Globals[c]
	}
	return &kept.use
}

// newObject makes an instance by its class's __new__: of (class, arguments) or of (class, arguments, named arguments).
func (r *pickleReader) newObject(operands int) error {
	v, err := r.popN(operands)
	if err != nil {
		return err
	}
	class, okClass := v[0].(Class)
	args, okArgs := v[1].(*Tuple)
	if !okClass || !okArgs {
		return errors.New("it has no class and arguments")
	}
	if operands == 3 {
		if named, ok := v[2].(*Dict); !ok || len(named.Entries) > 0 {
			return errors.New("named arguments are not accepted")
		}
	}
	if !slices.Contains(r.use(class).New, len(args.Items)) {
		return fmt.Errorf("a %s is not made with %d arguments", quote(class.String()), len(args.Items))
	}
	o := r.objects.one()
	o.Class, o.Args = class, args.Items
	return r.push(o)
}

// reduce calls a class, or does what one of the functions does.
func (r *pickleReader) reduce() error {
	v, err := r.popN(2)
	if err != nil {
		return err
	}
	args, ok := v[1].(*Tuple)
	if !ok {
		return errors.New("a call has no arguments")
	}
	made, err := r.call(v[0], args.Items)
	return r.pushIf(err, made)
}

func (r *pickleReader) call(callee Value, args []Value) (Value, error) {
	switch callee := callee.(type) {
	case Class:
		use := r.use(callee)
		if use.Enum && len(args) == 1 {
			if n, ok := args[0].(Int); ok {
				return &Member{Class: callee, Number: int64(n)}, nil
			}
		}
		if slices.Contains(use.Call, len(args)) {
			o := r.objects.one()
			*o = Object{Class: callee, Called: true, Args: args}
			return o, nil
		}
		return nil, fmt.Errorf("a call of %s with %d arguments is not accepted", quote(callee.String()), len(args))
	case function:
		switch callee {
		case getattr:
			return r.member(args)
		case makeDtype:
			return newDtype(args)
		case makeScalar:
			return callScalar(args)
		case reconstruct:
			return newArray(args)
		}
	}
	return nil, errors.New("a call of something that is not to be called")
}

// member is getattr(class, name) of an enum. Some releases of Python 3.11 write members so.
func (r *pickleReader) member(args []Value) (Value, error) {
	if len(args) == 2 {
		class, okClass := args[0].(Class)
		name, okName := args[1].(Str)
		if okClass && okName && name != "" && r.use(class).Enum {
			return &Member{Class: class, Name: string(name)}, nil
		}
	}
	return nil, errors.New("getattr is accepted only for members of known enums, by their name")
}

// newDtype is numpy.dtype(code, align, copy).
func newDtype(args []Value) (Value, error) {
	if len(args) != 3 || !truth(args[1], false) || !truth(args[2], true) {
		return nil, errors.New("numpy.dtype has other arguments than a code, False and True")
	}
	code, ok := args[0].(Str)
	if !ok {
		return nil, errors.New("the code of a NumPy type is not a text")
	}
	if _, err := parseType('<', string(code)); err != nil {
		return nil, err
	}
	return &dtype{code: string(code)}, nil
}

// truth reports whether v is a bool, which older releases of NumPy write as 0 and 1.
func truth(v Value, want bool) bool {
	n, ok := v.(Int)
	return v == Bool(want) || ok && (n == 1) == want && n>>1 == 0
}

// build gives dtypes their byte order, arrays their content, and objects their state.
func (r *pickleReader) build() error {
	v, err := r.popN(1)
	if err != nil {
		return err
	}
	state := v[0]
	target, err := r.top()
	if err != nil {
		return err
	}
	switch target := target.(type) {
	case *Object:
		return r.setState(target, state)
	case *dtype:
		return target.build(state)
	case *Array:
		return r.fill(target, state)
	}
	return errors.New("there is no object to give a state")
}

func (r *pickleReader) setState(o *Object, state Value) error {
	allowed := r.use(o.Class).State
	_, isDict := state.(*Dict)
	_, isTuple := state.(*Tuple)
	if !(isDict && allowed&DictState != 0 || isTuple && allowed&TupleState != 0) {
		return fmt.Errorf("a state of this kind is not accepted for %s", quote(o.Class.String()))
	}
	if o.State != nil {
		return fmt.Errorf("a %s is given a state twice", quote(o.Class.String()))
	}
	o.State = state
	return nil
}

// build takes (3, byte order, None, None, None, -1, -1, 0): version 3 of a type that has no parts.
func (d *dtype) build(state Value) error {
	t, ok := state.(*Tuple)
	rest := []Value{None{}, None{}, None{}, Int(-1), Int(-1), Int(0)}
	if !ok || len(t.Items) != 8 || t.Items[0] != Int(3) || !slices.EqualFunc(t.Items[2:], rest, same) {
		return errors.New("a NumPy type is not a plain one")
	}
	order, ok := t.Items[1].(Str)
	if !ok || len(order) != 1 {
		return errors.New("the byte order of a NumPy type is not a letter")
	}
	typ, err := parseType(order[0], d.code)
	if err == nil && d.typ != "" && d.typ != typ {
		err = errors.New("a NumPy type is given two byte orders")
	}
	d.typ = typ
	return err
}

func same(a, b Value) bool { return a == b }

// callScalar is numpy.core.multiarray.scalar(dtype, bytes).
func callScalar(args []Value) (Value, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("a NumPy scalar with %d arguments", len(args))
	}
	typ, err := typeArgument(args[0])
	if err != nil {
		return nil, err
	}
	data, ok := args[1].(Bytes)
	if !ok {
		return nil, errors.New("a NumPy scalar is not made of bytes")
	}
	s, err := NewScalar(typ, string(data))
	if err != nil {
		return nil, err
	}
	return s, nil
}

func typeArgument(v Value) (Type, error) {
	d, ok := v.(*dtype)
	if !ok || d.typ == "" {
		return "", errors.New("the type of a NumPy value is missing, or has no byte order")
	}
	return d.typ, nil
}

// newArray is numpy.core.multiarray._reconstruct(numpy.ndarray, (0,), b"b"), an array that has no type until it is filled.
func newArray(args []Value) (Value, error) {
	if len(args) == 3 && args[0] == ndarray && args[2] == Bytes("b") {
		if shape, ok := args[1].(*Tuple); ok && len(shape.Items) == 1 && shape.Items[0] == Int(0) {
			return &Array{}, nil
		}
	}
	return nil, errors.New("a NumPy array does not begin with ndarray, (0,) and b'b'")
}

// fill takes (version, shape, dtype, whether it is in Fortran's order, bytes).
func (r *pickleReader) fill(a *Array, state Value) error {
	t, ok := state.(*Tuple)
	if !ok || len(t.Items) != 5 || t.Items[0] != Int(1) || a.typ != "" {
		return errors.New("a NumPy array is not filled once with five values")
	}
	shape, err := sizes(t.Items[1])
	if err != nil {
		return err
	}
	typ, err := typeArgument(t.Items[2])
	if err != nil {
		return err
	}
	fortran, okFortran := t.Items[3].(Bool)
	data, okData := t.Items[4].(Bytes)
	if !okFortran || !okData {
		return errors.New("a NumPy array is not made of bytes")
	}
	filled, err := NewArray(typ, shape, string(data))
	if err != nil {
		return err
	}
	if fortran {
		if r.copies -= len(data); r.copies < 0 {
			return errors.New("arrays in Fortran's order share their bytes")
		}
		filled.data = fromFortran(typ, shape, filled.data)
	}
	*a = *filled
	return nil
}
