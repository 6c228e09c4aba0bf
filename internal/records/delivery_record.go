package records

import "github.com/traintravel/traintravel/rail"

// deadReasons are those of records, by their byte.
var deadReasons = [...]rail.DeadReason{"", rail.DeadByAttempts, rail.DeadByReceiver, rail.DeadByDisabling, rail.DeadByRemoval, rail.DeadByBacklog, rail.DeadByVerification, rail.DeadByPings}
