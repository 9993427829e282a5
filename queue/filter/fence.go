package filter

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"

	"github.com/itchyny/gojq"
)

// fence keeps a jq expression from doing what the meter cannot see, for a function of
// gojq is one step whatever it does: it refuses what reaches beyond the payload or
// changes it, and bounds what goes into functions whose time or memory does not come
// from the payload's size alone. An array that holds itself twice, forty times over,
// is small and takes forty steps, yet nothing can print or compare it.
type fence struct {
	refused string // the first name or operator that is not allowed
	why     string
	slow    bool // calls what takes long on a large payload
}

// The functions that stand in front of those of gojq. Each hands on its input or fails.
const (
	whole   = "_redq_whole"   // anything of bounded size, printed or compared
	factor  = "_redq_factor"  // that, and no text: a text times a number is the text repeated
	summand = "_redq_summand" // an operand of +
	brief   = "_redq_brief"   // a text that is repeated or read as a number
)

var (
	errWhole   = errors.New("a value is too large")
	errFactor  = errors.New("only numbers and objects are multiplied here")
	errSummand = errors.New("a value is too large to add to")
	errBrief   = errors.New("a text is too long")
)

const (
	maxSummand = 1 << 20 // bytes that a copy takes
	maxBrief   = 128     // bytes
	maxDepth   = 10_000
)

func (f *fence) functions() []gojq.CompilerOption {
	guard := func(name string, ok func(v any) bool, err error) gojq.CompilerOption {
		return gojq.WithFunction(name, 0, 0, func(v any, _ []any) any {
			if !ok(v) {
				return err
			}
			return v
		})
	}
	return []gojq.CompilerOption{
		guard(whole, fits, errWhole),
		guard(factor, func(v any) bool {
			_, text := v.(string)
			return !text && fits(v)
		}, errFactor),
		guard(summand, func(v any) bool { return length(v) <= maxSummand }, errSummand),
		guard(brief, func(v any) bool {
			text, _ := v.(string)
			return len(text) <= maxBrief
		}, errBrief),
	}
}

// length returns about how many bytes a copy of v takes that shares what it holds.
func length(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return 16 * len(v)
	case map[string]any:
		return 64 * len(v)
	}
	return 0
}

// fits reports whether v, written out, is of a size that a payload may have.
func fits(v any) bool {
	room := maxValues
	return weigh(v, &room, 0)
}

func weigh(v any, room *int, depth int) bool {
	*room--
	switch v := v.(type) {
	case string:
		*room -= len(v) / (maxText / maxValues)
	case json.Number:
		return len(v) <= maxDigits
	case *big.Int:
		return v.BitLen() <= 4*maxDigits
	case []any:
		for _, w := range v {
			if *room < 0 || depth == maxDepth || !weigh(w, room, depth+1) {
				return false
			}
		}
	case map[string]any:
		for k, w := range v {
			*room -= len(k) / (maxText / maxValues)
			if *room < 0 || depth == maxDepth || !weigh(w, room, depth+1) {
				return false
			}
		}
	}
	return *room >= 0
}

// enclose looks at all of an expression. Reflection visits each field, those too that
// later versions of gojq may add.
func (f *fence) enclose(node any) { f.visit(reflect.ValueOf(node)) }

func (f *fence) visit(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		f.visit(v.Elem()) // first, so that what is put in is not visited
		switch node := v.Interface().(type) {
		case *gojq.Query:
			f.query(node)
		case *gojq.Term:
			f.term(node)
		case *gojq.String:
			f.text(node)
		case *gojq.Index:
			// .[$x] looks for an array when $x is one.
			f.slow = f.slow || node.Start != nil && !node.IsSlice && !scalar(node.Start)
		case *gojq.PatternObject:
			f.slow = f.slow || node.KeyQuery != nil
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.visit(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			f.visit(v.Index(i))
		}
	}
}

func (f *fence) refuse(what, why string) {
	if f.refused == "" {
		f.refused, f.why = what, why
	}
}

func (f *fence) query(q *gojq.Query) {
	for _, i := range q.Imports {
		if i.ImportPath != "" {
			f.refuse("import", "jq: there are no modules here")
		} else {
			f.refuse("include", "jq: there are no modules here")
		}
	}
	switch q.Op {
	case gojq.OpAssign:
		f.refuse("=", "jq: = would change the payload: expected ==")
	case gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		f.refuse(q.Op.String(), "jq: a filter does not change the payload")
	case gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		if !scalar(q.Left) && !scalar(q.Right) {
			f.operands(q, whole)
		}
	case gojq.OpSub, gojq.OpDiv:
		if !scalar(q.Left) && !scalar(q.Right) {
			f.operands(q, whole)
			f.slow = true // each element of one with each of the other
		}
	case gojq.OpMul:
		f.operands(q, factor)
	case gojq.OpAdd:
		f.operands(q, summand)
	}
}

func (f *fence) operands(q *gojq.Query, guard string) {
	q.Left, q.Right = guarded(q.Left, guard), guarded(q.Right, guard)
}

// guarded puts a guard behind q, unless q is a number.
func guarded(q *gojq.Query, guard string) *gojq.Query {
	if scalar(q) && q.Term.Type != gojq.TermTypeString {
		return q
	}
	return inBrackets(&gojq.Query{Left: q, Op: gojq.OpPipe, Right: call(guard)})
}

func inBrackets(q *gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
}

func call(name string) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name}}}
}

// scalar reports whether q is a literal that is no container.
func scalar(q *gojq.Query) bool {
	if q == nil || q.Term == nil || len(q.Term.SuffixList) > 0 {
		return false
	}
	switch t := q.Term; t.Type {
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber:
		return true
	case gojq.TermTypeString:
		return t.Str.Queries == nil
	}
	return false
}

// text guards what is put into a text.
func (f *fence) text(s *gojq.String) {
	for i, q := range s.Queries {
		if !scalar(q) {
			s.Queries[i] = guarded(q, whole)
			f.slow = true
		}
	}
}

func (f *fence) term(t *gojq.Term) {
	input, args, output := "", "", ""
	switch {
	case t.Type == gojq.TermTypeFormat && t.Str == nil:
		input = whole
	case t.Type == gojq.TermTypeFunc:
		if why := forbidden(t.Func); why != "" {
			f.refuse(t.Func.Name, why)
		}
		input, args, output = guards(t.Func.Name)
	}
	if input == "" {
		return
	}
	f.slow = true
	inner := *t
	inner.SuffixList = nil
	if inner.Func != nil && args != "" {
		inner.Func = &gojq.Func{Name: t.Func.Name}
		for _, a := range t.Func.Args {
			inner.Func.Args = append(inner.Func.Args, guarded(a, args))
		}
	}
	q := &gojq.Query{Left: call(input), Op: gojq.OpPipe, Right: &gojq.Query{Term: &inner}}
	if output != "" {
		q = guarded(q, output)
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: q, SuffixList: t.SuffixList}
}

// forbidden says why a function is refused; "" when it is not.
func forbidden(fn *gojq.Func) string {
	switch name := fn.Name; name {
	case "$ENV", "env", "input", "inputs", "debug", "halt", "halt_error", "modulemeta":
		return "jq: a filter sees nothing but the payload"
	case "setpath", "pick", "fromstream", "transpose": // their size comes from a number
		return "jq: a filter does not build values: expected a condition"
	case "add":
		if len(fn.Args) > 0 {
			return "jq: expected [ … ] | add"
		}
	}
	return ""
}

// guards returns what stands before a function, behind each of its arguments and
// behind itself; nothing for a function that is as quick as its input is small.
func guards(name string) (input, args, output string) {
	switch name {
	case "tojson", "tostring", "format", "flatten", "sort", "unique", "min", "max", "add",
		"implode", "explode", "split", "reverse", "del", "delpaths",
		"test", "match", "capture", "scan", "splits", "sub", "gsub",
		"ascii_downcase", "ascii_upcase":
		return whole, "", ""
	case "sort_by", "group_by", "unique_by", "getpath", "min_by", "max_by", "bsearch",
		"contains", "inside", "index", "rindex", "indices", "IN", "INDEX":
		return whole, whole, ""
	case "join":
		return whole, brief, ""
	case "tonumber":
		return brief, "", ""
	case "fromjson":
		return whole, "", whole
	}
	return "", "", ""
}
