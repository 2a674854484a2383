# Our own scenarios: they test the runner as much as the machine.

@StepClassFilter
Feature: has()

  Scenario: people_over_thirty
    Given the modern graph
    And using the parameter age defined as "d[30].i"
    And the traversal of
      """
      g.V().has("age", gt(age)).values("name")
      """
    When iterated to list
    Then the result should be unordered
      | result |
      | josh |
      | peter |

  Scenario: by_an_id_of_a_vertex
    Given the modern graph
    And using the parameter vid defined as "v[marko].id"
    And the traversal of
      """
      g.V(vid).outE("created")
      """
    When iterated to list
    Then the result should be unordered
      | result |
      | e[marko-created->lop] |

  Scenario: nothing_is_there
    Given the classic graph
    And the traversal of
      """
      g.V().has("name", "noone")
      """
    When iterated to list
    Then the result should be empty

  Scenario: loops_are_seen_twice
    Given the sink graph
    And the traversal of
      """
      g.V().has("name", "loop").both()
      """
    When iterated to list
    Then the result should have a count of 2
    And the result should be of
      | result |
      | v[loop] |
