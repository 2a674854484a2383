package armilla.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import armilla.WithServer;
import com.azure.cosmos.models.PartitionKey;
import com.azure.spring.data.cosmos.core.query.CosmosPageRequest;
import com.azure.spring.data.cosmos.exception.CosmosAccessException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.Sort;

@ExtendWith(WithServer.class)
class RepositoriesTest {
    private static AnnotationConfigApplicationContext context;
    private static CustomerRepository customers;

    @BeforeAll
    static void open() {
        context = new AnnotationConfigApplicationContext(Application.class);
        customers = context.getBean(CustomerRepository.class);
    }

    @AfterAll
    static void close() {
        context.close();
    }

    @BeforeEach
    void fill() {
        customers.deleteAll();
        customers.saveAll(IntStream.range(0, 12)
                .mapToObj(age -> new Customer("c" + age, age % 2 == 0 ? "Oslo" : "Rome", "Name " + age, age))
                .toList());
    }

    private static List<Integer> ages(Iterable<Customer> found) {
        return StreamSupport.stream(found.spliterator(), false).map(Customer::getAge).toList();
    }

    @Test
    void crud() {
        assertEquals(12, customers.count());
        Customer ann = customers.findById("c4", new PartitionKey("Oslo")).orElseThrow();
        assertEquals("Name 4", ann.getName());
        assertNotNull(ann.getEtag());
        assertTrue(customers.findById("c4").isPresent());
        assertTrue(customers.existsById("c4"));
        assertFalse(customers.existsById("missing"));

        ann.setName("Ann");
        Customer saved = customers.save(ann);
        assertEquals("Ann", customers.findById("c4", new PartitionKey("Oslo")).orElseThrow().getName());
        Customer stale = customers.findById("c4", new PartitionKey("Oslo")).orElseThrow();
        customers.save(saved);
        assertThrows(CosmosAccessException.class, () -> {
            stale.setName("late");
            customers.save(stale);
        });

        assertEquals(2, ages(customers.findAllById(List.of("c1", "c2", "missing"))).size());
        assertEquals(6, ages(customers.findAll(new PartitionKey("Rome"))).size());
        customers.deleteById("c1", new PartitionKey("Rome"));
        customers.delete(customers.findById("c2", new PartitionKey("Oslo")).orElseThrow());
        customers.deleteAll(customers.findByCity("Rome"));
        assertEquals(5, customers.count());
    }

    @Test
    void derivedQueries() {
        assertEquals(6, customers.findByCity("Oslo").size());
        assertEquals(3, customers.findByNameContainingIgnoreCase("NAME 1").size());
        assertEquals(List.of(3, 4, 5), ages(customers.findByAgeBetween(3, 5)).stream().sorted().toList());
        assertEquals(List.of(11, 10), ages(customers.findByAgeGreaterThanOrderByAgeDesc(9)));
        assertEquals(12, customers.findByCityIn(List.of("Oslo", "Rome")).size());
        assertEquals(2, customers.findByNameStartingWithAndCity("Name 1", "Rome").size());
        assertEquals(List.of(0, 1, 2), ages(customers.findTop3ByOrderByAgeAsc()));
        assertTrue(customers.existsByName("Name 7"));
        assertEquals(6, customers.countByCity("Rome"));
        customers.deleteByCity("Rome");
        assertEquals(6, customers.count());
    }

    @Test
    void writtenQueries() {
        assertEquals(3, customers.atLeast(6, "Oslo").size());
        assertEquals(List.of(11, 10, 9), ages(customers.sorted(9, Sort.by(Sort.Direction.DESC, "age"))));
        assertEquals(3, customers.counted(9));
        Page<Customer> page = customers.pagesOf(4, new CosmosPageRequest(0, 5, null, Sort.by("age")));
        assertEquals(List.of(4, 5, 6, 7, 8), ages(page));
        assertEquals(List.of(9, 10, 11), ages(customers.pagesOf(4, page.nextPageable())));
    }

    @Test
    void sort() {
        assertEquals(11, customers.findAll(Sort.by(Sort.Direction.DESC, "age")).iterator().next().getAge());
        assertEquals(0, customers.findAll(Sort.by("age")).iterator().next().getAge());
    }

    @Test
    void pages() {
        List<Integer> seen = new ArrayList<>();
        Pageable next = new CosmosPageRequest(0, 5, null, Sort.by("age"));
        Page<Customer> page = customers.findAll(next);
        assertEquals(12, page.getTotalElements());
        assertEquals(3, page.getTotalPages());
        seen.addAll(ages(page));
        while (page.hasNext()) {
            page = customers.findAll(page.nextPageable());
            seen.addAll(ages(page));
        }
        assertEquals(IntStream.range(0, 12).boxed().toList(), seen);
        // A last page that is full: all six are there, and no seventh is promised.
        Page<Customer> first = customers.findByCity("Oslo", new CosmosPageRequest(0, 3, null, Sort.by("age")));
        Page<Customer> second = customers.findByCity("Oslo", first.nextPageable());
        assertEquals(List.of(6, 8, 10), ages(second));
        assertFalse(second.hasNext());
    }

    @Test
    void slices() {
        List<Integer> seen = new ArrayList<>();
        Slice<Customer> slice = customers.findByAgeGreaterThan(3, new CosmosPageRequest(0, 3, null, Sort.by("age")));
        seen.addAll(ages(slice));
        while (slice.hasNext()) {
            slice = customers.findByAgeGreaterThan(3, slice.nextPageable());
            seen.addAll(ages(slice));
        }
        assertEquals(List.of(4, 5, 6, 7, 8, 9, 10, 11), seen);
    }

    @Test
    void reactive() {
        ReactiveCustomerRepository repository = context.getBean(ReactiveCustomerRepository.class);
        assertEquals(6, repository.findByCity("Oslo").collectList().block().size());
        assertEquals("New", repository.save(new Customer("new", "Bonn", "New", 1)).block().getName());
        assertEquals(13, repository.count().block());
        repository.deleteById("new", new PartitionKey("Bonn")).block();
    }
}
