package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.ConsistencyLevel;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.DedicatedGatewayRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.azure.cosmos.models.SqlParameter;
import com.azure.cosmos.models.SqlQuerySpec;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Queries over several physical partitions, which the SDK plans and merges itself. */
class QueriesTest extends CosmosTest {
    private CosmosContainer container;

    @BeforeEach
    void makeItems() {
        container = makeWideContainer();
        fill(container, 30);
    }

    private <T> List<T> rows(String query, Class<T> type) {
        return container.queryItems(query, new CosmosQueryRequestOptions(), type).stream().toList();
    }

    private List<Integer> numbers(String query) {
        return rows(query, Double.class).stream().map(Double::intValue).toList();
    }

    @Test
    void everyOption() {
        var options = new CosmosQueryRequestOptions()
                .setPartitionKey(key("Oslo"))
                .setConsistencyLevel(ConsistencyLevel.SESSION)
                .setMaxBufferedItemCount(100)
                .setMaxDegreeOfParallelism(2)
                .setQueryMetricsEnabled(true)
                .setIndexMetricsEnabled(true)
                .setScanInQueryEnabled(true)
                .setResponseContinuationTokenLimitInKb(1)
                .setQueryName("named")
                .setDedicatedGatewayRequestOptions(
                        new DedicatedGatewayRequestOptions().setMaxIntegratedCacheStaleness(Duration.ofMinutes(1)));
        var query = new SqlQuerySpec(
                "SELECT * FROM c WHERE c.number >= @least ORDER BY c.number DESC", new SqlParameter("@least", 3));
        List<Item> found = new ArrayList<>();
        for (FeedResponse<Item> page : container.queryItems(query, options, Item.class).iterableByPage(4)) {
            assertTrue(page.getResults().size() <= 4);
            assertTrue(page.getRequestCharge() > 0, "every page costs");
            found.addAll(page.getResults());
        }
        assertEquals(9, found.size());
        assertEquals(27, found.get(0).number());
    }

    @Test
    void order() {
        assertEquals(List.of(29, 28, 27), numbers("SELECT VALUE c.number FROM c ORDER BY c.number DESC").subList(0, 3));
        assertEquals(List.of(0, 1), numbers("SELECT TOP 2 VALUE c.number FROM c ORDER BY c.number"));
        assertEquals(List.of(5, 6, 7), numbers("SELECT VALUE c.number FROM c ORDER BY c.number OFFSET 5 LIMIT 3"));
    }

    @Test
    void aggregates() {
        assertEquals(List.of(30), rows("SELECT VALUE COUNT(1) FROM c", Integer.class));
        assertEquals(List.of(435), numbers("SELECT VALUE SUM(c.number) FROM c"));
        assertEquals(List.of(14), numbers("SELECT VALUE AVG(c.number) FROM c"));
        assertEquals(List.of(0), numbers("SELECT VALUE MIN(c.number) FROM c"));
        assertEquals(List.of(29), numbers("SELECT VALUE MAX(c.number) FROM c"));
        assertEquals(30, rows("SELECT COUNT(1) AS n FROM c", JsonNode.class).get(0).get("n").asInt());
    }

    @Test
    void groupsAndDistinct() {
        List<JsonNode> groups = rows("SELECT c.city, COUNT(1) AS n, MAX(c.number) AS most FROM c GROUP BY c.city", JsonNode.class);
        assertEquals(3, groups.size());
        assertTrue(groups.stream().allMatch(group -> group.get("n").asInt() == 10));
        assertEquals(new HashSet<>(List.of("Oslo", "Rome", "Bonn")),
                new HashSet<>(rows("SELECT DISTINCT VALUE c.city FROM c", String.class)));
        assertEquals(List.of("Bonn", "Oslo", "Rome"),
                rows("SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city", String.class));
    }

    @Test
    void continuation() {
        String query = "SELECT * FROM c ORDER BY c.number";
        var first = container.queryItems(query, new CosmosQueryRequestOptions(), Item.class).iterableByPage(7).iterator().next();
        assertEquals(7, first.getResults().size());
        List<Item> rest = new ArrayList<>();
        for (var page : container.queryItems(query, new CosmosQueryRequestOptions(), Item.class)
                .iterableByPage(first.getContinuationToken(), 7)) {
            rest.addAll(page.getResults());
        }
        assertEquals(23, rest.size());
        assertEquals(7, rest.get(0).number());
    }

    @Test
    void feedRanges() {
        int total = 0;
        for (FeedRange range : container.getFeedRanges()) {
            var options = new CosmosQueryRequestOptions().setFeedRange(FeedRange.fromString(range.toString()));
            total += container.queryItems("SELECT * FROM c", options, Item.class).stream().count();
        }
        assertEquals(30, total);
        var ofKey = new CosmosQueryRequestOptions().setFeedRange(FeedRange.forLogicalPartition(key("Rome")));
        assertEquals(10, container.queryItems("SELECT * FROM c", ofKey, Item.class).stream().count());
        var everything = new CosmosQueryRequestOptions().setFeedRange(FeedRange.forFullRange());
        assertEquals(30, container.queryItems("SELECT * FROM c", everything, Item.class).stream().count());
    }

    @Test
    void wrongQuery() {
        var error = refused(400, () -> rows("SELECT * FORM c", Item.class));
        assertTrue(error.getMessage().contains("Syntax error"), error.getShortMessage());
    }

    @Test
    void fullPages() {
        List<FeedResponse<Item>> pages = new ArrayList<>();
        var options = new CosmosQueryRequestOptions().setPartitionKey(key("Oslo"));
        container.queryItems("SELECT * FROM c", options, Item.class).iterableByPage(5).forEach(pages::add);
        assertEquals(2, pages.size(), "the empty page behind the last full one is left out by the SDK");
        pages.forEach(page -> assertEquals(5, page.getResults().size()));
    }
}
