package armilla.spring;

import com.azure.spring.data.cosmos.repository.ReactiveCosmosRepository;
import reactor.core.publisher.Flux;

public interface ReactiveCustomerRepository extends ReactiveCosmosRepository<Customer, String> {
    Flux<Customer> findByCity(String city);
}
