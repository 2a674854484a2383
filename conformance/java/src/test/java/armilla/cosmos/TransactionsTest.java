package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosBatch;
import com.azure.cosmos.models.CosmosBatchItemRequestOptions;
import com.azure.cosmos.models.CosmosBatchResponse;
import com.azure.cosmos.models.CosmosBulkExecutionOptions;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosItemOperation;
import com.azure.cosmos.models.CosmosPatchItemRequestOptions;
import com.azure.cosmos.models.CosmosPatchOperations;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Patches, transactional batches and bulk requests. */
class TransactionsTest extends CosmosTest {
    @Test
    void patch() {
        CosmosContainer container = makeContainer();
        container.createItem(Map.of("id", "1", "city", "Oslo", "count", 1, "gone", true, "old", "a", "list", List.of(1)));
        var operations = CosmosPatchOperations.create()
                .add("/added", "x").add("/list/-", 2).increment("/count", 41).increment("/count", 0.5)
                .remove("/gone").replace("/old", "b").set("/set", Map.of("deep", 1)).move("/old", "/moved");
        var condition = new CosmosPatchItemRequestOptions().setFilterPredicate("FROM c WHERE c.count = 1");
        ObjectNode found = container.patchItem("1", key("Oslo"), operations, condition, ObjectNode.class).getItem();
        assertEquals("x", found.get("added").asText());
        assertEquals(42.5, found.get("count").asDouble());
        assertEquals("b", found.get("moved").asText());
        assertFalse(found.has("gone") || found.has("old"));
        assertEquals(2, found.get("list").size());
        refused(412, () -> container.patchItem("1", key("Oslo"), operations, condition, ObjectNode.class));
        refused(400, () -> container.patchItem(
                "1", key("Oslo"), CosmosPatchOperations.create().replace("/nowhere", 1), ObjectNode.class));
    }

    @Test
    void batch() {
        CosmosContainer container = makeContainer();
        for (String id : List.of("replaced", "patched", "deleted")) {
            container.createItem(new Item(id, "Oslo", 1));
        }
        CosmosBatch batch = CosmosBatch.createCosmosBatch(key("Oslo"));
        batch.createItemOperation(new Item("created", "Oslo", 1));
        batch.readItemOperation("created");
        batch.replaceItemOperation("replaced", new Item("replaced", "Oslo", 5));
        batch.upsertItemOperation(new Item("upserted", "Oslo", 1));
        batch.patchItemOperation("patched", CosmosPatchOperations.create().increment("/number", 1));
        batch.deleteItemOperation("deleted");
        CosmosBatchResponse done = container.executeCosmosBatch(batch);
        assertTrue(done.isSuccessStatusCode(), done.getErrorMessage());
        assertEquals(List.of(201, 200, 200, 201, 200, 204),
                done.getResults().stream().map(result -> result.getStatusCode()).toList());
        assertEquals(new Item("patched", "Oslo", 2), done.getResults().get(4).getItem(Item.class));
        assertTrue(done.getRequestCharge() > 0);
    }

    @Test
    void failedBatchLeavesNothing() {
        CosmosContainer container = makeContainer();
        container.createItem(new Item("there", "Oslo", 1));
        CosmosBatch batch = CosmosBatch.createCosmosBatch(key("Oslo"));
        batch.createItemOperation(new Item("new", "Oslo", 1));
        batch.deleteItemOperation("there", new CosmosBatchItemRequestOptions().setIfMatchETag("\"stale\""));
        CosmosBatchResponse done = container.executeCosmosBatch(batch);
        assertFalse(done.isSuccessStatusCode());
        assertEquals(List.of(424, 412), done.getResults().stream().map(result -> result.getStatusCode()).toList());
        refused(404, () -> container.readItem("new", key("Oslo"), Item.class));
    }

    @Test
    void bulk() {
        CosmosContainer container = makeWideContainer();
        List<CosmosItemOperation> operations = new ArrayList<>();
        for (int number = 0; number < 300; number++) {
            Item item = new Item("item " + number, "city " + number % 40, number);
            operations.add(CosmosBulkOperations.getCreateItemOperation(item, key(item.city())));
        }
        AtomicInteger created = new AtomicInteger();
        container.executeBulkOperations(operations, new CosmosBulkExecutionOptions()).forEach(done -> {
            assertEquals(201, done.getResponse().getStatusCode());
            created.incrementAndGet();
        });
        assertEquals(300, created.get());

        var patch = CosmosPatchOperations.create().increment("/number", 1);
        List<CosmosItemOperation> mixed = List.of(
                CosmosBulkOperations.getReadItemOperation("item 0", key("city 0")),
                CosmosBulkOperations.getReplaceItemOperation("item 1", new Item("item 1", "city 1", -1), key("city 1")),
                CosmosBulkOperations.getUpsertItemOperation(new Item("new", "city 2", 1), key("city 2")),
                CosmosBulkOperations.getPatchItemOperation("item 3", key("city 3"), patch),
                CosmosBulkOperations.getDeleteItemOperation("item 4", key("city 4")),
                CosmosBulkOperations.getCreateItemOperation(new Item("item 5", "city 5", 1), key("city 5")));
        List<Integer> statuses = new ArrayList<>();
        container.executeBulkOperations(mixed).forEach(done -> statuses.add(done.getResponse().getStatusCode()));
        assertEquals(List.of(200, 200, 200, 201, 204, 409), statuses.stream().sorted().toList());
    }
}
