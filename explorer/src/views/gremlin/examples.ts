//! Scripts to begin with.

export interface Example {
  title: string;
  about: string;
  text: string;
  writes?: boolean;
}

export const FIRST = 'g.V().limit(50)';

/** Returns scripts for a graph whose partition key is the property `key`. */
export function examples(key: string): Example[] {
  return [
    { title: 'Some vertices', about: 'with the edges between them', text: FIRST },
    { title: 'Some edges', about: 'with the vertices at their ends', text: 'g.E().limit(50)' },
    { title: 'How many of each label', about: 'reads every vertex', text: 'g.V().groupCount().by(label)' },
    { title: 'Paths of two steps', about: 'out of a few vertices', text: 'g.V().limit(5).outE().inV().outE().inV().limit(50).path()' },
    { title: 'Those with the most edges', about: 'reads every vertex and its edges', text: "g.V().project('id', 'edges').by(id).by(bothE().count()).order().by(select('edges'), decr).limit(10)" },
    { title: 'Add a small graph', about: 'three vertices and three edges', text: small(key), writes: true },
  ];
}

function small(key: string): string {
  const vertex = (id: string, label: string, name: string) => {
    const partition = key === 'id' ? '' : `.property('${key.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}', '${id}')`;
    return `addV('${label}').property('id', '${id}')${partition}.property('name', '${name}').as('${id}')`;
  };
  return [
    `g.${vertex('ann', 'person', 'Ann')}`,
    `.${vertex('ben', 'person', 'Ben')}`,
    `.${vertex('oslo', 'city', 'Oslo')}`,
    ".addE('knows').from('ann').to('ben').property('since', 2020)",
    ".addE('lives in').from('ann').to('oslo')",
    ".addE('lives in').from('ben').to('oslo')",
  ].join('\n ');
}
