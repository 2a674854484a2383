package gremlin

import (
	"math/big"
	"testing"
	"time"

	gremlingo "github.com/apache/tinkerpop/gremlin-go/v3/driver"
	"github.com/google/uuid"
)

var (
	anonymous = gremlingo.T__
	where     = gremlingo.P
)

func TestTraversalsThatWrite(t *testing.T) {
	g := traversals(t, makeGraph(t))
	for _, id := range []string{"ada", "bob"} {
		must(t, <-g.AddV("person").Property(gremlingo.T.Id, id).Property("pk", id).Property("age", 36).Iterate())
	}
	made, err := g.V("ada").AddE("knows").To(anonymous.V("bob")).Property("since", 1997).Next()
	must(t, err)
	edge, err := made.GetEdge()
	must(t, err)
	equal(t, []any{edge.Label, edge.OutV.Id, edge.InV.Id}, []any{"knows", "ada", "bob"})
	equal(t, list(t, g.V("ada").Out("knows").Id()), []any{"bob"})
	equal(t, list(t, g.V(&edge.InV).In("knows").Id()), []any{"ada"})
	must(t, <-g.V("ada").Property("age", 37).Iterate())
	equal(t, list(t, g.V("ada").Values("age")), []any{int32(37)})
	must(t, <-g.V("bob").Drop().Iterate())
	equal(t, list(t, g.V().Id()), []any{"ada"})
	equal(t, list(t, g.E().Count()), []any{int64(0)})
}

func TestSteps(t *testing.T) {
	g := traversals(t, makeModern(t))
	for _, one := range []struct {
		traversal *gremlingo.GraphTraversal
		found     []any
	}{
		{g.V().Count(), []any{int64(6)}},
		{g.V().Has("age", where.Gt(30)).Id(), []any{"josh", "peter"}},
		{g.V().Has("age", where.Gt(28).And(where.Lt(33))).Id(), []any{"josh", "marko"}},
		{g.V().Has("name", where.Within("josh", "lop")).Id(), []any{"josh", "lop"}},
		{g.V().Has("name", gremlingo.TextP.StartingWith("m")).Id(), []any{"marko"}},
		{g.V().HasLabel("person").Order().By("age", gremlingo.Order.Desc).Limit(1).Values("name"), []any{"peter"}},
		{g.V("marko").Repeat(anonymous.Out()).Times(2).Id(), []any{"lop", "ripple"}},
		{g.V().GroupCount().By(gremlingo.T.Label), []any{map[any]any{"person": int64(4), "software": int64(2)}}},
		{
			g.V("josh").Project("name", "made").By("name").By(anonymous.Out("created").Count()),
			[]any{map[any]any{"name": "josh", "made": int64(2)}},
		},
		{g.V().HasLabel("person").Fold().Count(gremlingo.Scope.Local), []any{int64(4)}},
		{g.V("vadas").Coalesce(anonymous.Out(), anonymous.Constant("none")), []any{"none"}},
		{g.V("marko").Union(anonymous.Out("knows"), anonymous.Out("created")).Id(), []any{"josh", "lop", "vadas"}},
		{g.V("marko").ValueMap("name"), []any{map[any]any{"name": []any{"marko"}}}},
		{g.V("no-such"), []any{}},
	} {
		equal(t, sorted(list(t, one.traversal)), one.found)
	}
	equal(t, len(list(t, g.V().Repeat(anonymous.Both()).Times(4))), 174)
	is, err := g.V("marko").HasNext()
	must(t, err)
	equal(t, is, true)
}

func TestValuesOfEveryKind(t *testing.T) {
	g := traversals(t, makeGraph(t))
	large, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	for _, value := range []any{
		// The driver itself makes 32 bits of what fits into them.
		int32(1), int64(1) << 40, int16(3), 0.5, float32(0.25), true, "text \u00e9", large, uuid.New(),
		[]any{int32(1), "a"}, map[any]any{"k": int64(1)},
	} {
		equal(t, list(t, g.Inject(value)), []any{value})
	}
	moment := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	back, is := list(t, g.Inject(moment))[0].(time.Time)
	equal(t, is && back.Equal(moment), true)
}

func TestStrategies(t *testing.T) {
	g := traversals(t, makeModern(t))
	people := gremlingo.PartitionStrategy(gremlingo.PartitionStrategyConfig{
		PartitionKey: "pk", ReadPartitions: gremlingo.NewSimpleSet("people"),
	})
	equal(t, list(t, g.WithStrategies(people).V().Count()), []any{int64(4)})
	software := gremlingo.SubgraphStrategy(gremlingo.SubgraphStrategyConfig{Vertices: anonymous.HasLabel("software")})
	equal(t, list(t, g.WithStrategies(software).V().Count()), []any{int64(2)})
	_, err := g.WithStrategies(gremlingo.ReadOnlyStrategy()).AddV("x").Property("pk", "p").Next()
	refused(t, err, 500, "x-ms-status-code:403")
}

func TestMerging(t *testing.T) {
	g := traversals(t, makeGraph(t))
	for _, seen := range []int{1, 2} {
		for _, id := range []string{"a", "b"} {
			wanted := map[any]any{gremlingo.T.Id: id, gremlingo.T.Label: "person", "pk": "p"}
			must(t, <-g.MergeV(wanted).Option(gremlingo.Merge.OnMatch, map[any]any{"seen": seen}).Iterate())
		}
		edge := map[any]any{gremlingo.T.Label: "knows", gremlingo.Direction.Out: "a", gremlingo.Direction.In: "b"}
		must(t, <-g.MergeE(edge).Iterate())
	}
	equal(t, list(t, g.V().Count()), []any{int64(2)})
	equal(t, list(t, g.E().Count()), []any{int64(1)})
	equal(t, list(t, g.V("a").Values("seen")), []any{int32(2)})
}

func TestErrorsOfTraversals(t *testing.T) {
	g := traversals(t, makeModern(t))
	_, err := g.AddV("person").Property(gremlingo.T.Id, "marko").Property("pk", "people").Next()
	refused(t, err, 500, "x-ms-status-code:409", "Conflicting request to resource")
	_, err = g.With("evaluationTimeout", 100).V().Repeat(anonymous.Both()).Times(30).Path().Count().Next()
	refused(t, err, 598, "x-ms-status-code:1009")
}

func TestTransactionsAreRefused(t *testing.T) {
	g := traversals(t, makeModern(t))
	transaction := g.Tx()
	inside, err := transaction.Begin()
	must(t, err)
	equal(t, list(t, inside.V().Count()), []any{int64(6)})
	refused(t, transaction.Commit(), 597, "Graph does not support transactions")
}
