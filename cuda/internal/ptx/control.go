package ptx

func buildBranch(in *instr) run {
	in.has("uni")
	in.count(1)
	in.out.kind = opBranch
	in.fixes = append(in.fixes, fix{len(in.k.code), -1, in.args[0].name, in.scope, in.line})
	return nil
}

// buildTableBranch decodes brx.idx.
func buildTableBranch(in *instr) run {
	in.has("uni")
	if !in.has("idx") {
		in.refuse("needs .idx")
	}
	in.count(2)
	var list []string
	for s := in.scope; s != nil && list == nil; s = s.up {
		list = s.tables[in.args[1].name]
	}
	if list == nil {
		in.refuse("list %s of targets is not defined", in.args[1].name)
	}
	in.out.kind, in.out.member = opTable, int32(in.source(in.args[0], types["u32"]))
	in.out.table = make([]int32, len(list))
	for i, name := range list {
		in.fixes = append(in.fixes, fix{len(in.k.code), i, name, in.scope, in.line})
	}
	return nil
}

// buildReturn decodes ret. In a device function it is a branch to the end of the inlined body.
func buildReturn(in *instr) run {
	in.has("uni")
	in.count(0)
	if len(in.calls) == 1 {
		in.out.kind = opExit
		return nil
	}
	in.out.kind = opBranch
	in.returns = append(in.returns, len(in.k.code))
	return nil
}

func buildExit(in *instr) run {
	in.count(0)
	in.out.kind = opExit
	return nil
}

func buildTrap(in *instr) run {
	return func(w *warp, m uint32) { w.faultAt(w.first(), "the kernel executed trap") }
}

// buildNothing decodes instructions without an effect here: fences, prefetches, sleep.
func buildNothing(in *instr) run {
	for i := range in.used {
		in.used[i] = true
	}
	return func(*warp, uint32) {}
}
