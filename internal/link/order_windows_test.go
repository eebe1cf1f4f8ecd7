package link

// places is empty, as access lists are the only way.
var places map[string]placeOfCache
