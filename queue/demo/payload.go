package demo

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

var (
	people = []string{"Zoë Müller", "Ama Osei", "李小龙", "Jürgen Groß", "سارة حداد", "Anaïs Lefèvre", "Иван Петров", "Noor Khan", "Björk Jónsdóttir", "Tomás Ó Briain"}
	skus   = []string{"S-07", "S-12", "S-22", "S-31", "S-40", "S-58"}
	beans  = []string{"smsProcess", "mailProcess", "importProcess", "reportProcess"}
	errs   = []string{"timeout after 5s", "card declined", "connection reset by peer", "no such customer", "503 from payments"}
)

// one returns any of the values.
func one(r *rand.Rand, values []string) string { return values[r.IntN(len(values))] }

// longID makes an id with more digits than a double holds.
func longID(r *rand.Rand) string {
	return fmt.Sprintf("%d%019d", 1+r.IntN(8), r.Uint64N(1e18))
}

func uuid(r *rand.Rand) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func notification(r *rand.Rand, n int) string {
	texts := []string{"Your parcel is out for delivery 📦", "New sign-in from Lisbon", "您的订单已发货", "Your table is ready ✅", "Payment received, thank you"}
	return fmt.Sprintf(`{"n":%d,"user":%d,"to":%q,"text":%q}`, n, 1000+r.IntN(9000), one(r, people), one(r, texts))
}

func letter(r *rand.Rand, n int, template string) string {
	return fmt.Sprintf(`{"n":%d,"to":"customer%d@example.com","tpl":%q,"lang":%q}`, n, 1000+r.IntN(9000), template, one(r, []string{"en", "de", "fr", "ja"}))
}

const mailBounced = "550 mailbox unavailable"

// bounced is a letter as a program puts it into dead that keeps the error in the message.
func bounced(letter string) string {
	return withFields(letter, fmt.Sprintf(`"error":%q,"attempts":1`, mailBounced))
}

// withFields puts fields at the end of a JSON object, byte for byte.
func withFields(object, fields string) string {
	body, ok := strings.CutSuffix(object, "}")
	if !ok || body == "{" {
		return object
	}
	return body + "," + fields + "}"
}

func reminder(r *rand.Rand, n int) string {
	what := []string{"renew your passport", "call the dentist", "water the plants", "会议提醒", "the free trial ends"}
	return fmt.Sprintf(`{"id":%q,"msg":{"n":%d,"user":%d,"what":%q}}`, uuid(r), n, 1000+r.IntN(9000), one(r, what))
}

func priceAlert(r *rand.Rand, n int) string {
	return fmt.Sprintf(`{"id": %q, "n": %d, "sku": %q, "below": %d.%02d}`, uuid(r), n, one(r, skus), 5+r.IntN(200), r.IntN(100))
}

func invoice(r *rand.Rand, n int) string {
	return fmt.Sprintf(`{"id":%q,"msg":{"invoice":%d,"iban_check":%s,"customer":%q,"total":"%d.%02d"}}`,
		uuid(r), n, longID(r), one(r, people), 10+r.IntN(900), r.IntN(100))
}

func booking(r *rand.Rand, n int) string {
	return fmt.Sprintf(`{"n":%d,"sku":%q,"take":%d,"warehouse":%q}`, n, one(r, skus[:3]), 1+r.IntN(5), one(r, []string{"Köln", "Łódź", "東京"}))
}

// job is a message that says by which bean it is handled, and when.
func job(r *rand.Rand, n int, due time.Time) string {
	return fmt.Sprintf(`{"beanName":%q,"queueName":"jobs","n":%d,"msg":%q,"attempts":0,"delayTime":%d}`,
		one(r, beans), n, one(r, people), due.UnixMilli())
}

// putBack returns a failed job with one attempt more and a later time; "" when
// the message is no job.
func putBack(m string, now time.Time) (again string, due time.Time, attempts int) {
	var j struct {
		BeanName  string          `json:"beanName"`
		QueueName string          `json:"queueName"`
		N         json.RawMessage `json:"n,omitempty"`
		Msg       json.RawMessage `json:"msg"`
		Attempts  int             `json:"attempts"`
		Error     string          `json:"error"`
		DelayTime int64           `json:"delayTime"`
	}
	if json.Unmarshal([]byte(m), &j) != nil || j.BeanName == "" || j.Msg == nil {
		return "", time.Time{}, 0
	}
	j.Attempts++
	due = now.Add(time.Duration(j.Attempts) * 10 * time.Second)
	j.DelayTime, j.Error = due.UnixMilli(), j.BeanName+" returned NOT_OK"
	b, err := json.Marshal(j)
	if err != nil {
		return "", time.Time{}, 0
	}
	return string(b), due, j.Attempts
}

func purchase(r *rand.Rand, n int) string {
	return fmt.Sprintf(`{"order":%d,"customer":%q,"sku":%q,"qty":%d,"payment":%s}`, n, one(r, people), one(r, skus), 1+r.IntN(4), longID(r))
}

func payment(r *rand.Rand, n int) string {
	return fmt.Sprintf(`{"id":%q,"msg":{"payment":%d,"customer":%q,"amount":"%d.%02d","card":%s}}`,
		uuid(r), n, one(r, people), 1+r.IntN(900), r.IntN(100), longID(r))
}

// failed returns an order as its consumer retries it, and how often it was tried.
// The attempts stand at the end, where they can be changed byte for byte.
func failed(m string, r *rand.Rand) (again string, attempts int) {
	const field = `,"attempts":`
	first, tried, ok := strings.Cut(m, field)
	if ok {
		_, _ = fmt.Sscanf(tried, "%d", &attempts)
		m = first + "}"
	}
	attempts++
	return withFields(m, fmt.Sprintf(`"attempts":%d,"error":%q`, attempts, one(r, errs))), attempts
}

func auditEntry(r *rand.Rand, n int) string {
	action := []string{"login", "logout", "refund.approved", "role.granted", "export.started"}
	return fmt.Sprintf(`{"n":%d,"actor":%q,"action":%q,"ip":"192.0.2.%d","trace":%s}`, n, one(r, people), one(r, action), r.IntN(256), longID(r))
}

// The audit list holds what a screen must stand: a long, a binary and a hostile message.

func longEntry(r *rand.Rand) string {
	var lines []string
	for range 90 {
		lines = append(lines, auditEntry(r, 0))
	}
	return `{"action":"export.finished","rows":[` + strings.Join(lines, ",") + `]}`
}

// binaryEntry is MessagePack: {"actor":"cron","ok":true,"at":<float>,"raw":<bytes>}.
const binaryEntry = "\x84\xa5actor\xa4cron\xa2ok\xc3\xa2at\xcb\x41\xd9\x5f\x3a\x1c\x80\x00\x00\xa3raw\xc4\x04\x00\xff\xfe\x1b"

const hostileEntry = "{\"action\":\"login.failed\",\"agent\":\"\x1b[2J\x1b]0;owned\x07curl\\r\\n\u202egpj.exe\"}\r\x1b[31m"
