package ptx

// call inlines the called function. Its parameters are the caller's .param variables under other
// names.
func (b *builder) call(in *instr) {
	in.has("uni")
	var results, params []string
	if b.peek() == "(" {
		results = b.names()
		b.expect(",")
	}
	name := b.next()
	if b.accept(",") {
		if b.peek() != "(" {
			in.refuse("indirect calls are not supported")
		}
		params = b.names()
	}
	if b.accept(",") {
		in.refuse("indirect calls are not supported")
	}
	b.expect(";")
	f := b.m.functions[name]
	if f == nil || f.body == nil {
		in.refuse("function %s has no body", name)
	}
	if len(results) != len(f.results) || len(params) != len(f.params) {
		in.refuse("%s takes %d arguments and has %d results, got %d and %d", name, len(f.params), len(f.results), len(params), len(results))
	}
	bind := map[string]*variable{}
	share := func(formal []variable, actual []string) {
		for i := range formal {
			v := b.symbol(actual[i])
			if v == nil || v.space != "frame" || v.size < formal[i].size {
				in.refuse("argument %s, want a .param variable of %d bytes", actual[i], formal[i].size)
			}
			bind[formal[i].name] = v
		}
	}
	share(f.params, params)
	share(f.results, results)
	skip := -1
	if in.out.guard >= 0 {
		skip = b.emit(op{kind: opBranch, guard: in.out.guard, negate: !in.out.negate, line: int32(in.line), text: in.text})
	}
	fixes := b.fixes
	b.fixes = nil
	b.function(f, bind)
	b.fixes = fixes
	if skip >= 0 {
		b.k.code[skip].target = int32(len(b.k.code))
	}
}

// names parses a list of names, for example "(a, b)".
func (b *builder) names() (list []string) {
	b.expect("(")
	for !b.accept(")") {
		list = append(list, b.next())
		b.accept(",")
	}
	return list
}
