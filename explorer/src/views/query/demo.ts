//! The worked example of a blog: its ten operations in each of the three versions of its data model.
//!
//! Its containers are known by their names; nothing is kept on the server. Charges are those of the model that the
//! server's charges follow, for 67 physical partitions of posts; a query over all partitions costs less where there are
//! fewer. Not every operation is a query: reads of one item and calls of procedures are told as what they are.

export type Version = 'V1' | 'V2' | 'V3';

export interface DemoStep {
  /** Where it goes; queries are run there. */
  database: string;
  container: string;
  how: 'query' | 'read' | 'write' | 'procedure';
  /** A query's text, or what is done in words. */
  text: string;
  /** The parameter whose value is the partition key as well, or the key itself as it is typed; null for all partitions. */
  key: string | null;
  parameters: Readonly<Record<string, DemoValue>>;
}

/** A value as it is typed, or a query that finds one: ids differ from one run of the example to the next. */
export type DemoValue = { typed: string } | { find: string };

export interface DemoOperation {
  name: string;
  title: string;
  version: Version;
  /** Request units by the model. */
  charge: number;
  note: string;
  steps: DemoStep[];
}

/** The operations, with what each costs in the three versions. */
const OPERATIONS: readonly (readonly [name: string, title: string, v1: number, v2: number, v3: number])[] = [
  ['C1', 'create a user', 5.71, 5.71, 6.67],
  ['Q1', 'retrieve a user', 1.0, 1.0, 1.0],
  ['C2', 'create a post', 8.76, 9.9, 9.9],
  ['Q2', 'retrieve a post', 19.01, 1.0, 1.0],
  ['Q3', "list a user's posts", 608.38, 197.84, 6.55],
  ['C3', 'create a comment', 8.57, 15.67, 15.67],
  ['Q4', "list a post's comments", 27.59, 7.64, 7.64],
  ['C4', 'like a post', 7.05, 14.14, 14.14],
  ['Q5', "list a post's likes", 58.8, 8.92, 8.92],
  ['Q6', 'list the 100 newest posts', 2138.56, 524.65, 16.55],
];

const POSTS_OF_USER = "SELECT * FROM c\nWHERE c.userId = @user AND c.type = 'post'";
const NEWEST = "SELECT TOP 100 * FROM c\nWHERE c.type = 'post'\nORDER BY c.creationDate DESC";
const COUNT = 'SELECT VALUE COUNT(1) FROM c\nWHERE c.postId = @post AND c.type = @type';
const ABOUT_POST = 'SELECT * FROM c\nWHERE c.postId = @post AND c.type = @type';

/** Where a version has its users, and its posts; the third keeps the second's posts. */
const PLACES = {
  V1: { users: ['blog-v1', 'users'], posts: ['blog-v1', 'posts'] },
  V2: { users: ['blog-v2', 'users'], posts: ['blog-v2', 'posts'] },
  V3: { users: ['blog-v3', 'users'], posts: ['blog-v2', 'posts'] },
} as const;

const FEED = ['blog-v3', 'feed'] as const;

type Place = readonly [database: string, container: string];

function step(
  [database, container]: Place,
  how: DemoStep['how'],
  text: string,
  key: string | null,
  parameters: DemoStep['parameters'] = {},
): DemoStep {
  return { database, container, how, text, key, parameters };
}

const USER = { '@user': { find: "SELECT TOP 1 VALUE c.userId FROM c WHERE c.type = 'post'" } };
const about = (type: string) => ({
  '@post': { find: `SELECT TOP 1 VALUE c.postId FROM c WHERE c.type = '${type}'` },
  '@type': { typed: type },
});

function stepsOf(name: string, version: Version): { steps: DemoStep[]; note: string } {
  const { users, posts } = PLACES[version];
  const isFirst = version === 'V1';
  const counts = (times: string) => [
    step(posts, 'query', COUNT, '@post', about('comment')),
    step(posts, 'query', COUNT, '@post', about('like')),
    step(users, 'read', `Read the user by id, ${times}.`, null),
  ];
  switch (name) {
    case 'C1':
      return { steps: [step(users, 'write', 'Write the item of the user.', null)], note: 'One write: its item, and what it adds to the index.' };
    case 'Q1':
      return { steps: [step(users, 'read', 'Read the item by id and partition key.', null)], note: 'A read by id and key is the cheapest there is: 1 RU up to 1 KB.' };
    case 'C2':
      return {
        steps: [step(posts, 'write', 'Write the item of the post.', null)],
        note: isFirst ? 'One write.' : 'One write, of an item that also has a name and two counts. Copies are made later, from the change feed.',
      };
    case 'Q2':
      return isFirst
        ? {
            steps: [step(posts, 'read', 'Read the post by id and partition key.', null), ...counts('for the name')],
            note: 'One read, then a user and two counts, because the post has neither names nor counts in it.',
          }
        : { steps: [step(posts, 'read', 'Read the post by id and partition key.', null)], note: 'One read: name and counts stand in the post.' };
    case 'Q3':
      if (version === 'V3') {
        return {
          steps: [step(users, 'query', POSTS_OF_USER, '@user', USER)],
          note: "Copies of a user's posts lie with the user, in one logical partition.",
        };
      }
      return {
        steps: [step(posts, 'query', POSTS_OF_USER, null, USER), ...(isFirst ? counts('once') : [])],
        note: isFirst
          ? 'Posts are keyed by their own id, so every physical partition is asked; then one user and 54 counts for 27 posts.'
          : 'Posts are keyed by their own id, so every physical partition is asked, most of them in vain.',
      };
    case 'C3':
    case 'C4': {
      const [what, procedure] = name === 'C3' ? ['comment', 'createComment'] : ['like', 'createLike'];
      return isFirst
        ? { steps: [step(posts, 'write', `Write the item of the ${what}.`, null)], note: 'One write.' }
        : {
            steps: [step(posts, 'procedure', `Call ${procedure}(postId, item) with the post's id as partition key.`, null)],
            note: `The procedure adds the ${what} and counts it in the post, in one transaction: dearer to write, so that reading is cheap.`,
          };
    }
    case 'Q4':
    case 'Q5': {
      const [type, count] = name === 'Q4' ? ['comment', 20] : ['like', 50];
      return {
        steps: [
          step(posts, 'query', ABOUT_POST, '@post', about(type as string)),
          ...(isFirst ? [step(users, 'read', `Read each user by id, ${count} of them.`, null)] : []),
        ],
        note: isFirst
          ? `One logical partition, then ${count} users for their names.`
          : `One logical partition; names stand in the ${type}s.`,
      };
    }
    default:
      return version === 'V3'
        ? { steps: [step(FEED, 'query', NEWEST, 'post')], note: 'The hundred newest lie in one logical partition that a trigger keeps at a hundred.' }
        : {
            steps: [step(posts, 'query', NEWEST, null), ...(isFirst ? counts('100 times') : [])],
            note: isFirst
              ? 'Every physical partition gives its newest, then 100 users and 200 counts.'
              : 'Every physical partition gives its newest, in the order of its index of dates.',
          };
  }
}

export const DEMO_OPERATIONS: readonly DemoOperation[] = OPERATIONS.flatMap(([name, title, v1, v2, v3]) =>
  (['V1', 'V2', 'V3'] as const).map((version) => ({
    name, title, version, charge: { V1: v1, V2: v2, V3: v3 }[version], ...stepsOf(name, version),
  })),
);

const DATABASES = ['blog-v1', 'blog-v2', 'blog-v3'];

/** Returns whether a container is one of the worked example's. */
export function isOfDemo(database: string, container: string): boolean {
  return DATABASES.includes(database) &&
    DEMO_OPERATIONS.some((one) => one.steps.some((at) => at.database === database && at.container === container));
}

/** Returns the operations that have something to do in a container. */
export function demoOperations(database: string, container: string): DemoOperation[] {
  return DEMO_OPERATIONS.filter((one) =>
    one.steps.some((at) => at.database === database && at.container === container));
}
