package main

import (
	"errors"
	"fmt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/trainserver"
)

// refusal says what to do about a server that cannot be made with these settings.
func (s *settings) refusal(err error) error {
	bad, _ := errors.AsType[*traintravel.InvalidError](err)
	switch {
	case errors.Is(err, trainserver.ErrOtherKeys):
		return fmt.Errorf("the keys in %s are not those that servers of %s have used, so their tokens and idempotency keys would be refused: copy their keys file to %[1]s; or, if it is lost or retired, start once with --new-keys", s.keysFile(s.keys), s.named())
	case bad != nil && bad.Field == "Options.Issuer":
		return usagef("invalid --issuer %.200q: %s", withoutSecrets(s.issuer), bad.Reason)
	}
	return flagError(s.explain(err))
}

// compare warns if the server started before this one had other keys or another base URL.
func (p *program) compare(set settings, base string, before trainserver.Previous) {
	if before.Replaced {
		p.log.Warn("new keys replaced the earlier ones; copy the keys file to all servers of this data and restart them", "keys", set.keysFile(set.keys))
	}
	if set.shared() && before.BaseURL != "" && before.BaseURL != base {
		p.log.Warn("the server started before this one has another base URL, so links and tokens of one are invalid on the other; give both the same --base-url", "base", base, "before", before.BaseURL)
	}
}
