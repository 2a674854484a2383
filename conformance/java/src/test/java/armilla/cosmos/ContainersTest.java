package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.ChangeFeedPolicy;
import com.azure.cosmos.models.CompositePath;
import com.azure.cosmos.models.CompositePathSortOrder;
import com.azure.cosmos.models.ComputedProperty;
import com.azure.cosmos.models.ConflictResolutionMode;
import com.azure.cosmos.models.ConflictResolutionPolicy;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosContainerRequestOptions;
import com.azure.cosmos.models.CosmosContainerResponse;
import com.azure.cosmos.models.ExcludedPath;
import com.azure.cosmos.models.IncludedPath;
import com.azure.cosmos.models.IndexingMode;
import com.azure.cosmos.models.IndexingPolicy;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.azure.cosmos.models.SpatialSpec;
import com.azure.cosmos.models.SpatialType;
import com.azure.cosmos.models.SqlParameter;
import com.azure.cosmos.models.SqlQuerySpec;
import com.azure.cosmos.models.ThroughputProperties;
import com.azure.cosmos.models.UniqueKey;
import com.azure.cosmos.models.UniqueKeyPolicy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ContainersTest extends CosmosTest {
    @Test
    void verbs() {
        CosmosContainerProperties properties = new CosmosContainerProperties("orders", "/city");
        CosmosContainerResponse created = database.createContainer(properties);
        assertEquals(201, created.getStatusCode());
        refused(409, () -> database.createContainer(properties));
        assertEquals(200, database.createContainerIfNotExists(properties).getStatusCode());
        assertEquals(200, database.createContainerIfNotExists("orders", "/city").getStatusCode());

        CosmosContainer container = database.getContainer("orders");
        CosmosContainerResponse read =
                container.read(new CosmosContainerRequestOptions().setQuotaInfoEnabled(true));
        assertTrue(read.getResponseHeaders().containsKey("x-ms-resource-quota"));
        assertEquals(List.of("/city"), read.getProperties().getPartitionKeyDefinition().getPaths());

        CosmosContainerProperties changed = read.getProperties();
        changed.setDefaultTimeToLiveInSeconds(60);
        assertEquals(60, container.replace(changed).getProperties().getDefaultTimeToLiveInSeconds());
        refused(412, () -> container.replace(
                changed, new CosmosContainerRequestOptions().setIfMatchETag("\"stale\"")));

        assertEquals(204, container.delete().getStatusCode());
        refused(404, () -> container.read());
    }

    @Test
    void everyPolicy() {
        CosmosContainerProperties properties = new CosmosContainerProperties("policies", "/city");
        properties.setIndexingPolicy(new IndexingPolicy()
                .setIndexingMode(IndexingMode.CONSISTENT)
                .setIncludedPaths(List.of(new IncludedPath("/*")))
                .setExcludedPaths(List.of(new ExcludedPath("/blob/*")))
                .setCompositeIndexes(List.of(List.of(
                        new CompositePath().setPath("/city").setOrder(CompositePathSortOrder.ASCENDING),
                        new CompositePath().setPath("/number").setOrder(CompositePathSortOrder.DESCENDING))))
                .setSpatialIndexes(List.of(
                        new SpatialSpec().setPath("/place/*").setSpatialTypes(List.of(SpatialType.POINT)))));
        properties.setUniqueKeyPolicy(new UniqueKeyPolicy().setUniqueKeys(List.of(new UniqueKey(List.of("/number")))));
        properties.setConflictResolutionPolicy(ConflictResolutionPolicy.createLastWriterWinsPolicy("/stamp"));
        properties.setComputedProperties(
                List.of(new ComputedProperty("lower", "SELECT VALUE LOWER(c.city) FROM c")));
        CosmosContainerProperties found =
                makeContainer(properties).read().getProperties();
        assertEquals("/number", found.getIndexingPolicy().getCompositeIndexes().get(0).get(1).getPath());
        assertEquals("/place/*", found.getIndexingPolicy().getSpatialIndexes().get(0).getPath());
        assertEquals(1, found.getUniqueKeyPolicy().getUniqueKeys().size());
        assertEquals(ConflictResolutionMode.LAST_WRITER_WINS, found.getConflictResolutionPolicy().getMode());
        assertEquals("lower", found.getComputedProperties().iterator().next().getName());
    }

    @Test
    void changeFeedPolicy() {
        CosmosContainerProperties properties = new CosmosContainerProperties("feed", "/city");
        properties.setChangeFeedPolicy(ChangeFeedPolicy.createAllVersionsAndDeletesPolicy(Duration.ofMinutes(60)));
        assertEquals(Duration.ofMinutes(60), makeContainer(properties).read().getProperties()
                .getChangeFeedPolicy().getRetentionDurationForAllVersionsAndDeletesPolicy());
    }

    /** The SDK writes the version of a key as text, "V2". */
    @Test
    void versionsOfKeys() {
        for (PartitionKeyDefinitionVersion version : PartitionKeyDefinitionVersion.values()) {
            PartitionKeyDefinition definition = new PartitionKeyDefinition();
            definition.setPaths(List.of("/city"));
            definition.setKind(PartitionKind.HASH);
            definition.setVersion(version);
            CosmosContainer container = makeContainer(new CosmosContainerProperties(fresh("keys"), definition));
            assertEquals(version, container.read().getProperties().getPartitionKeyDefinition().getVersion());
            fill(container, 3);
        }
    }

    @Test
    void lists() {
        makeContainer();
        CosmosContainer wanted = makeContainer();
        assertEquals(2, database.readAllContainers().stream().count());
        var query = new SqlQuerySpec("SELECT * FROM c WHERE c.id = @id", new SqlParameter("@id", wanted.getId()));
        var found = database.queryContainers(query).stream().toList();
        assertEquals(1, found.size());
        assertEquals(wanted.getId(), found.get(0).getId());
    }

    @Test
    void throughput() {
        database.createContainer(
                new CosmosContainerProperties("c", "/city"), ThroughputProperties.createManualThroughput(400));
        CosmosContainer container = database.getContainer("c");
        var read = container.readThroughput();
        assertEquals(400, read.getProperties().getManualThroughput());
        assertEquals(400, read.getMinThroughput());
        assertFalse(read.isReplacePending());
        container.replaceThroughput(ThroughputProperties.createManualThroughput(1000));
        assertEquals(1000, container.readThroughput().getProperties().getManualThroughput());
        refused(400, () -> container.replaceThroughput(ThroughputProperties.createManualThroughput(150)));
    }

    @Test
    void autoscale() {
        database.createContainer(
                new CosmosContainerProperties("c", "/city"), ThroughputProperties.createAutoscaledThroughput(4000));
        CosmosContainer container = database.getContainer("c");
        assertEquals(4000, container.readThroughput().getProperties().getAutoscaleMaxThroughput());
        container.replaceThroughput(ThroughputProperties.createAutoscaledThroughput(5000));
        assertEquals(5000, container.readThroughput().getProperties().getAutoscaleMaxThroughput());
    }

    /** Migration is asked for by a header, and the SDK has none: from one kind to the other by a replace is refused. */
    @Test
    void migrationOfThroughput() {
        database.createContainer(
                new CosmosContainerProperties("c", "/city"), ThroughputProperties.createManualThroughput(400));
        CosmosContainer container = database.getContainer("c");
        refused(400, () -> container.replaceThroughput(ThroughputProperties.createAutoscaledThroughput(4000)));
        assertEquals(400, container.readThroughput().getProperties().getManualThroughput());
    }

    @Test
    void initialPartitions() {
        assertEquals(4, makeWideContainer().getFeedRanges().size(), "6,000 RU/s for a physical partition at first");
    }
}
