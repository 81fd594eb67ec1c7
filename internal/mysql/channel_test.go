// SPDX-License-Identifier: Apache-2.0

package mysql

import "testing"

func TestNeedsClone(t *testing.T) {
	const purged = "Got fatal error 1236 from source when reading data from binary log: 'Cannot replicate because the " +
		"source purged required binary logs. Replicate the missing transactions from elsewhere, or provision a new replica.'"
	for name, c := range map[string]struct {
		channel Channel
		want    bool
	}{
		"no error":                         {Channel{}, false},
		"what MySQL 9.7.4 says of a purge": {Channel{ReceiverErrno: 13114, ReceiverError: purged}, true},
		"the number of older servers":      {Channel{ReceiverErrno: 1236}, true},
		"the source's own number":          {Channel{ReceiverErrno: 1789}, true},
		"any fatal error":                  {Channel{ReceiverErrno: 13117, ReceiverError: "Fatal error: the receiver quits"}, false},
		"another error of the source":      {Channel{ReceiverErrno: 13114, ReceiverError: "Got fatal error 1105 from source"}, false},
		"another replica with our UUID": {Channel{ReceiverErrno: 13114, ReceiverError: "Got fatal error 1236 from source when " +
			"reading data from binary log: 'A replica with the same server_uuid/server_id as this replica has connected'"}, false},
		"a source that is away": {Channel{ReceiverErrno: 2003}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.channel.NeedsClone(); got != c.want {
				t.Errorf("NeedsClone() = %v, want %v", got, c.want)
			}
		})
	}
}

func TestTheTextOfAReceiverErrorStandsStill(t *testing.T) {
	const text = "Error connecting to source 'keelson_catchup@127.0.0.1:3306'. This was attempt 7/0, with a delay of 1 " +
		"seconds between attempts. Message: Can't connect"
	const want = "Error connecting to source 'keelson_catchup@127.0.0.1:3306'. Message: Can't connect"
	if got := withoutAttempt(text); got != want {
		t.Errorf("got %q", got)
	}
}
