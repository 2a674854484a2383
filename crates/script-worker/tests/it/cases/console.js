// The log.

// ==== places for values
//> log The value of x is 1.
//> log 5 5 2.5 {"a":1} "text" %
//> log one and %s
//> log no place 1 null undefined [2] {"a":1}
//> log 100%
//> log %x %
//> log 1 2
//> log 
//> log {"a":[1]}
//> log {"a":1} rest
//> log Error: gone
//> log Symbol(s) 5
//> log \ud800
//> log [object]
function () {
  console.log('The value of %s is %s.', 'x', 1);
  console.log('%d %i %f %j %o %%', '5', 5.7, '2.5x', { a: 1 }, 'text');
  console.log('%s and %s', 'one');
  console.log('no place', 1, null, undefined, [2], { a: 1 });
  console.log('100%');
  console.log('%x %');
  console.log(1, 2);
  console.log();
  console.log({ a: [1] });
  console.log('%s', { a: 1 }, 'rest');
  console.log(new Error(404, 'gone'));
  console.log(Symbol('s'), 5n);
  console.log('%s', '\ud800');
  const own = {}; own.own = own;
  console.log(own);
}

// ==== what a failing script logged
//> log before
//> error - Error: then
function () { console.log('before'); throw new Error('then'); }

// ==== there is nothing else
//> log x
//> response [["log"],"undefined"]
function () { __.response.setBody([Object.keys(console), typeof console.log('x')]); }
