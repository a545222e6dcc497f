# Mistakes in the core, each the lack of a rule: plant NAME FILE EXPRESSION-OF-SED. Read by Scripts/sync-simulator.sh.
plant "rule 1: rows are shown anew over writes that are not sealed" Device/SyncDevice.swift \
    '0,/try seal\(at: now, in: &store, using: &random\)$/s//_ = now/'
plant "rule 3: a part of a refused transaction is applied" Server/SpaceServer.swift \
    's/return \.absent \}/continue }/'
plant "rule 5: the basis does not count" Merging/Merger.swift 's/basis < stamp\.number && device/device/'
plant "rule 5: a device meets its own changes" Merging/Merger.swift 's/ && device != stamp\.device//'
plant "rule 5: a winner stores its own clock" Merging/Merger.swift 's/max\(time, former\?\.time\.next \?\? time\)/time/'
plant "rule 6: an insert begins the first life" Merging/Row.swift 's/life \+ 1 \+ life % 2/1/'
plant "rule 6: columns outlive their row" Merging/Row.swift 's/if change\.life > life \{ columns = \[:\] \}//'
plant "rule 7: whole rows are merged" Merging/Merger.swift 's/case \.wholeRow: .*/case .wholeRow: break/'
plant "rule 5: whole rows are called merging" Operations/Operation.swift 's/if policy == \.wholeRow \{/if policy != .keepBoth {/'
plant "rule 6: a tombstone is a column, which an update sets back" Merging/Merger.swift \
    '/case \.update\(let key, let life, let values\):/,/case \.delete/s/if life < row\.life \{ return \.superseded \}/if life < row.life { rows[key] = Row(life: row.life + 1 - row.life % 2, number: author.number, columns: row.columns) }/'
plant "rule 8: a time that is ahead is refused" Server/SpaceServer.swift \
    's/(if transaction\.isVoid .*)/\1; if transaction.time > time { return .refused(.forbidden, head: head) }/'
plant "rule 10: a head that was only heard of is pulled to" Device/SyncDevice.swift \
    's/min\(target \?\? page\.head, page\.head\)/target ?? page.head/'
plant "rule 11: a snapshot is shown before its log" Device/SyncDevice+Snapshot.swift \
    's/guard page\.isLast, start == page\.head else/guard page.isLast else/'
plant "rule 12: a cursor is a number" Server/SpaceServer+Reading.swift 's/return try store\.entry.*/return nil/'
plant "rule 12: a server that lost the end of a chain is believed" Device/SyncDevice.swift \
    's/return end\.number < acknowledged\.number.*/return false \&\& acknowledged == end/'
plant "rule 12: a re-sent update is not merged when its row comes back" Server/SpaceServer.swift \
    's/try mergeWaiting\(&merger, &waits, at: number, history, over: store\)//'
plant "rule 13: a refusal of the rights applies to one operation" Server/SpaceServer.swift \
    's/(if let sender, try !mayMerge\(.*\)) \{ return \.forbidden \}/\1 { continue }/'
plant "rule 1: a value is sealed from the screen" Device/SyncDevice+Sealing.swift \
    's/try later\[\$0\.key\] \?\? store\.shown\(\$0\.key\)/try store.shown($0.key)/'
plant "rule 13: an id that is taken stays" Device/SyncDevice.swift \
    's/case \.gap, \.forked, \.deviceTaken: effects = (.*)/case .deviceTaken: phase = .idle; case .gap, .forked: effects = \1/'
plant "rule 14: a batch without conditions matches nothing" Operations/BatchUpdate.swift \
    's/row\.isLive$/row.isLive \&\& !conditions.isEmpty/'
plant "rule 15: the rows of a snapshot are not in the digest" Device/SyncDevice+Snapshot.swift \
    's/state\.stagedDigest\.replace\(.*//'
plant "rule 19: a transaction is sent again before the verdict on its void" Device/SyncDevice+OneWay.swift \
    's/outgoing\.isSentAgain = true/return try replace(outgoing, at: now, in: \&store, using: \&random)/'
plant "rule 19: a void counts, whatever had arrived" Device/SyncDevice+Pushing.swift \
    's/if verdict\.refusal != nil, outgoing\.isSentAgain/if outgoing.isSentAgain/'
plant "rule 21: a write of the server's has no verdict and no end" Server/SpaceServer+Writing.swift \
    's/try store\.setDevice\(device, record\)//'
