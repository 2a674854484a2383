package armilla.spring.hierarchical;

import static org.junit.jupiter.api.Assertions.assertEquals;

import armilla.WithServer;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** An application of its own: repositories make their containers when an application starts. */
@ExtendWith(WithServer.class)
class HierarchicalKeysTest {
    @Test
    void visits() {
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            VisitRepository visits = context.getBean(VisitRepository.class);
            visits.saveAll(List.of(
                    new Visit("1", "NO", "Oslo"), new Visit("2", "NO", "Bergen"), new Visit("3", "IT", "Rome")));
            assertEquals(2, visits.findByCountry("NO").size());
            assertEquals(1, visits.findByCountryAndCity("NO", "Oslo").size());
            PartitionKey whole = new PartitionKeyBuilder().add("IT").add("Rome").build();
            assertEquals("Rome", visits.findById("3", whole).orElseThrow().getCity());
            visits.deleteById("3", whole);
            assertEquals(2, visits.count());
        }
    }
}
