package support

// abort is nil: a page has no servers.
var abort any
