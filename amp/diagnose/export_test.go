package diagnose

// RuleCodes returns the codes of the rules, as they stand in the table.
func RuleCodes() []string {
	var codes []string
	for _, r := range rules {
		codes = append(codes, r.code)
	}
	return codes
}
